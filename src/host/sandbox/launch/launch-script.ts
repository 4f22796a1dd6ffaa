/** What a waiting shell is to become. Everything decided but the sandbox, which is there already. */
export interface LaunchOrder {
  /** `argv[0]` as the program is to see it. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'pipe' | 'null';
}

/** The numbers under which the shell finds its script and its report. One digit: more is no number to every shell. */
export const SCRIPT_FD = 6;
export const REPORT_FD = 7;

/** The status of a shell that could not do what it was told. Its report says so; this is for whoever looks at processes. */
const CANNOT_RUN = 126;

/** What the shell reports when it could not become the program. */
export const LAUNCH_FAILED = 'failed';

/**
 * The one shell that hands on exactly the environment it was told, and tells of a program that cannot be executed. bash
 * always adds a variable of its own, for one.
 */
export const WAITING_SHELL = 'dash';

/** The command that waits in a sandbox: a shell that does what comes through the pipe. */
export function waitingShell(shell: string): string[] {
  return [shell, `/proc/self/fd/${SCRIPT_FD}`];
}

/** Names of variables that mean something to the shell: it would refuse some values, or act on them. */
const OWN_NAMES: readonly string[] = ['OPTIND'];

/** The script that makes the waiting shell the program. Null for what it cannot do exactly, or not in one piece. */
export function launchScript(order: LaunchOrder, maxBytes: number): Uint8Array | null {
  if (!canCarry(order)) return null;
  const script = Buffer.from(scriptFor(order));
  // A shell would take half of it for all.
  return script.length > maxBytes ? null : script;
}

function canCarry({ argv, env }: LaunchOrder): boolean {
  const names = Object.keys(env);
  // `%` in a PATH, and a dash in front of the name of a program, mean something to the shell alone.
  const isPlain = !argv[0]?.startsWith('-') && !env.PATH?.includes('%');
  return isPlain && names.every((name) => /^[A-Za-z_]\w*$/.test(name) && !OWN_NAMES.includes(name));
}

/**
 * Environment and arguments pass through the pipe and the shell's own memory: everybody can read the arguments of every
 * process. The report stays open until the shell is the program, or writes to it on its way out; nothing else of the
 * shell reaches the program.
 */
function scriptFor({ argv, cwd, env, stdin }: LaunchOrder): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const input = stdin === 'null' ? ' </dev/null' : '';
  return [
    `trap 'echo ${LAUNCH_FAILED} >&${REPORT_FD}' 0\n`,
    // -P: as the kernel goes there. A shell's own way is to drop a link together with the `..` behind it.
    `cd -P ${quote(cwd)} || exit ${CANNOT_RUN}\n`,
    'unset OLDPWD\n',
    ...variables,
    `exec ${argv.map(quote).join(' ')}${input} ${SCRIPT_FD}<&- ${REPORT_FD}>&-\n`,
  ].join('');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
