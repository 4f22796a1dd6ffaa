export const FAREWELL = 'bye';

/** Rounds of at least 20 ms: enough for any tree SIGKILL can end, and a limit for those it cannot. */
const ROUNDS = 200;

/** Consecutive rounds that must find nobody if processes ended meanwhile: any of them may have forked first. */
const EMPTY_ROUNDS = 5;

/** Rounds in which processes without a mark are stopped, until no new one is found. */
const STOPS = 25;

/**
 * Waits for the end of a pipe that only the server holds open. Without a farewell the server was killed: then all
 * processes of its trees are killed, until a round finds none. Uses nothing but the shell itself (`sleep` only saves
 * CPU), so that it works while the machine is out of processes and when this server's own code is gone; hence its own
 * reader of /proc beside `procfs`. Zombies count as dead. Signals sent to everything at once are meant for the server:
 * the watchdog is needed until the server is gone.
 *
 * Members are found the way the server finds them: every process with the mark; from the ledger (descriptor 3) the
 * children not reaped yet, which lead their session and have the same new parent as this shell, and known orphans;
 * orphans with the timer slack of a tree; and all descendants of these. Parents usually have lower pids; a second pass
 * finds the rest. If any process lacks the mark, all are stopped first, so that none forks away between scan and kill.
 *
 * $1 is the prefix of this server's marks, $2 the mark of its guarded children, $PPID its pid.
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
      "$1"* | "$2") members="$members$pid "; continue;;
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
    [ -n "$unsettled" ] && [ "$empty" -lt ${EMPTY_ROUNDS} ] && continue
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
