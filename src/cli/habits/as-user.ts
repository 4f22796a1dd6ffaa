import { ExecError } from '../../protocol/errors.js';

/**
 * Becomes another user and then the program, so that the program keeps its place in the process tree. Only a server
 * that runs as root can do that: what `sudo` starts for another one could not be ended by it. The variable that marks the tree
 * stays in the environment.
 */
const SCRIPT = `user=$1 where=$2; shift 2
fail() { echo "execwire: $1" >&2; exit 125; }
id=$(id -u -- "$user" 2>/dev/null) || fail "There is no user $user on that machine."
entry=$(getent passwd "$id") || entry=$user:x:$id:$(id -g -- "$user"):::
home=$(echo "$entry" | cut -d: -f6) shell=$(echo "$entry" | cut -d: -f7)
[ "$#" -gt 0 ] && [ -n "$1" ] || { shift; set -- "\${shell:-/bin/sh}" "$@"; }
[ "$where" = given ] || cd "\${home:-/}" 2>/dev/null || cd /
[ "$id" = "$(id -u)" ] && exec "$@"
[ "$(id -u)" = 0 ] || fail "Only a server that runs as root can run a program as $user. Try: sudo -u $user PROGRAM"
command -v setpriv >/dev/null || fail "-u needs setpriv (package util-linux) on that machine."
exec setpriv --reuid "$id" --regid "$(id -g -- "$user")" --init-groups -- \\
  env "HOME=\${home:-/}" "USER=$user" "LOGNAME=$user" "SHELL=\${shell:-/bin/sh}" "$@"`;

/** The login shell of the given user. */
export const THEIR_SHELL = '';

/** What runs a program as another user. Without a working directory of its own, it starts in that user's home directory. */
export function asUser(
  user: string | undefined,
  argv: readonly string[],
  { hasDirectory }: { hasDirectory: boolean },
): readonly string[] {
  if (user === undefined) return argv;
  return ['/bin/sh', '-c', SCRIPT, 'execwire', user, hasDirectory ? 'given' : 'home', ...argv];
}

/** A policy is enforced for the user of the server, and nobody changes user in a sandbox. */
export function refuseUserInSandbox({ user, sandbox }: { user?: string; sandbox?: string }): void {
  if (user !== undefined && sandbox !== undefined)
    throw new ExecError('invalidConfiguration', '-u cannot be used with --sandbox.');
}
