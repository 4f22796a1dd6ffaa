export const FAREWELL = 'bye';

/** Rounds of 20 ms and more: enough for any tree that SIGKILL can end, and an end for those it cannot. */
const ROUNDS = 200;

/** Rounds that find nobody, one after the other, where processes ended during the look: any of them may have forked first. */
const EMPTY_LOOKS = 5;

/** Rounds in which those are stopped who carry no mark, until nobody new is found. */
const STOPS = 25;

/*
 * Waits for the end of the pipe that only the server holds open. Without a farewell the server was killed: then
 * everything of its trees is killed, until a round finds nobody. Needs no program but the shell itself (`sleep` only
 * spares CPU), so that it works while the machine is out of processes,
 * and when this server's own code is gone: hence a reader of /proc of its own beside `procfs`. A zombie is dead already. Signals that somebody sends
 * to everything at once are meant for the server: it is needed until that is gone.
 *
 * Members are found as the server finds them. Everybody with the mark; from the ledger (descriptor 3) the children that were
 * not reaped, which lead their session and have the same new parent as this shell, and known orphans; orphans whose timer
 * slack is that of a tree; and all that descends from these. Parents have lower numbers, mostly: a second pass finds the rest.
 * Where somebody carries no mark all are stopped first, so that none forks away between look and kill.
 *
 * $1 is what the marks of this server begin with, $PPID its number.
 */
export const WATCHDOG_SCRIPT = `
trap '' HUP INT TERM
read -r word && [ "$word" = "${FAREWELL}" ] && exit 0

stat_of() {
  read -r line < "/proc/$1/stat" || return 1
  set -- \${line##*) }
  state=$1 parent=$2 session=$4 start=\${20}
}
has() { case "$1" in *" $2 "*) return 0;; esac; return 1; }

tries=0
while stat_of $$ && [ "$parent" = "$PPID" ] && [ "$tries" -lt 100 ]; do
  tries=$((tries + 1))
  sleep 0.01
done
heir=$parent

children=' ' orphans=' ' numbers=' '
if [ -e /proc/self/fd/3 ]; then
  while read -r pid number start; do
    [ -n "$pid" ] || continue
    [ "$number" = 0 ] || numbers="$numbers$number "
    [ "$pid" = 0 ] && continue
    if [ "$start" = 0 ]; then children="$children$pid "; else orphans="$orphans$pid:$start "; fi
  done < /proc/self/fd/3
fi

round=0 stops=0 stopped=' ' empty=0
while [ "$round" -lt ${ROUNDS} ]; do
  members=' ' others= wary= unsettled=
  for dir in /proc/[0-9]*; do
    pid=\${dir#/proc/}
    stat_of "$pid" || { unsettled=yes; continue; }
    [ "$state" = Z ] && { unsettled=yes; continue; }
    while read -r a b c value rest; do
      case "$a $b $c" in "Max realtime timeout") break;; esac
    done < "$dir/limits" || { unsettled=yes; continue; }
    case "$value" in
      "$1"*) members="$members$pid "; continue;;
      7??????????????????) continue;;
      8??????????????????) marked=yes;;
      *) marked=;;
    esac
    if [ "$parent" = "$heir" ]; then
      mine=
      has "$children" "$pid" && [ "$session" = "$pid" ] && mine=yes
      has "$orphans" "$pid:$start" && mine=yes
      if [ -z "$mine" ] && [ -z "$marked" ] && [ "$numbers" != ' ' ]; then
        read -r slack < "$dir/timerslack_ns" && has "$numbers" "$slack" && mine=yes
      fi
      [ -n "$mine" ] && wary=yes members="$members$pid " && continue
    fi
    has "$stopped" "$pid:$start" && wary=yes members="$members$pid " && continue
    others="$others$pid:$parent:$start "
  done
  grown=yes
  while [ -n "$grown" ]; do
    grown= rest=
    for each in $others; do
      pid=\${each%%:*} parent=\${each#*:}
      if has "$members" "\${parent%:*}"; then
        grown=yes wary=yes members="$members$pid "
      else
        rest="$rest$each "
      fi
    done
    others=$rest
  done
  if [ "$members" = ' ' ]; then
    empty=$((empty + 1))
    [ -n "$unsettled" ] && [ "$empty" -lt ${EMPTY_LOOKS} ] && continue
    exit 0
  fi
  empty=0 new=
  if [ -n "$wary" ] && [ "$stops" -lt ${STOPS} ]; then
    for pid in $members; do
      stat_of "$pid" || continue
      has "$stopped" "$pid:$start" && continue
      new=yes stopped="$stopped$pid:$start "
      kill -STOP "$pid"
    done
  fi
  if [ -n "$new" ]; then
    stops=$((stops + 1))
    continue
  fi
  for pid in $members; do kill -9 "$pid"; done
  round=$((round + 1))
  sleep 0.02
done`;
