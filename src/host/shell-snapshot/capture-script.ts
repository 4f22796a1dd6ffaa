/** The descriptor the state is written to: a profile's own output is discarded. */
const STATE_FD = 7;

/** Variables bash maintains itself; setting them would fail or freeze them. */
const OWN_VARIABLES = [
  '_|BASH|BASHOPTS|BASHPID|BASH_ALIASES|BASH_ARG*|BASH_CMDS|BASH_COMMAND|BASH_ENV|BASH_EXECUTION_STRING|BASH_LINENO',
  'BASH_LOADABLES_PATH|BASH_MONOSECONDS|BASH_REMATCH|BASH_SOURCE|BASH_SUBSHELL|BASH_TRAPSIG|BASH_VERSINFO|BASH_VERSION',
  'COMP_*|COPROC|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE',
  'OPTARG|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|OLDPWD|RANDOM|READLINE_*|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID',
  '__execwire_*',
].join('|');

/**
 * Prints everything a later shell needs to be like this one, in NUL-terminated records: exported variables, an empty
 * record, commands for other variables preceded by their names, an empty record, the parts of `STATE_PARTS`, then
 * `END_RECORD`. It does not rely on names the profile may have aliased, nor on options it may have set.
 */
const DUMP = String.raw`
__execwire_set="$(\builtin set +o)" || \builtin :
__execwire_shopt="$(\builtin shopt -p)" || \builtin :
__execwire_ifs="$(\builtin declare -p IFS 2>/dev/null)" || \builtin :
\builtin set +eufvx +o posix +o noclobber
\builtin shopt -u failglob nullglob nocasematch
IFS=$'\n'
__execwire_exported="$(\builtin compgen -e)" || \builtin :
__execwire_names="$(\builtin compgen -v)" || \builtin :
{
for __execwire_name in $__execwire_exported; do
  case $__execwire_name in __execwire_*) \builtin continue ;; esac
  [[ -v $__execwire_name ]] && \builtin printf '%s=%s\0' "$__execwire_name" "${'$'}{!__execwire_name}"
done
\builtin printf '\0'
for __execwire_name in $__execwire_names; do
  case $__execwire_name in IFS|${OWN_VARIABLES}) \builtin continue ;; esac
  __execwire_flags=${'$'}{!__execwire_name@a}
  case $__execwire_flags in
    x) \builtin continue ;;
    *[aAn]*) \builtin printf '%s\n' "$__execwire_name"; \builtin declare -p "$__execwire_name" ;;
    *x*) \builtin printf '%s\ndeclare -%s %s' "$__execwire_name" "${'$'}{__execwire_flags//x/}" "$__execwire_name" ;;
    *) \builtin printf '%s\n' "$__execwire_name"; \builtin declare -p "$__execwire_name" ;;
  esac
  \builtin printf '\0'
done
\builtin printf 'IFS\n%s\0\0%s\0' "$__execwire_ifs" "$__execwire_shopt"
\builtin declare -f; \builtin declare -Fx; \builtin declare -Fr; \builtin declare -Ft
\builtin printf '\0'
\builtin alias -p
\builtin printf '\0'
\builtin trap -p
\builtin printf '\0'
\builtin umask -p
\builtin printf '\0%s\0%s\0end\0' "$(</proc/self/limits)" "$__execwire_set"
} 2>/dev/null >&${STATE_FD}
\builtin exit 0
`;

export const END_RECORD = 'end';

/** In order of appearance. */
export const STATE_PARTS = ['shopt', 'functions', 'aliases', 'traps', 'umask', 'limits', 'set'] as const;

/**
 * The command that captures the state of a shell: with `-lc` after its profile, with `-c` that of a shell started from
 * a saved state.
 */
export function captureCommand(shell: string, flag: '-lc' | '-c'): string[] {
  const divert = `exec ${STATE_FD}>&1 >/dev/null 2>&1; exec "$0" "$@"`;
  // -p: this shell reads no startup file, whatever the environment says.
  return [shell, '-p', '-c', divert, shell, flag, DUMP];
}
