/** What a waiting shell is to become. Fully specified except for the sandbox, which already exists. */
export interface LaunchOrder {
  /** `argv[0]` as the program will see it. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'pipe' | 'null';
}

/** The shell's descriptors for its script and its report. Single digits, since not every shell accepts more. */
export const SCRIPT_FD = 6;
export const REPORT_FD = 7;

/** Exit status of a shell that could not follow its orders. Its report says the same; this is for people looking at processes. */
const CANNOT_RUN = 126;

/** The shell's report as soon as it has its script. */
export const LAUNCH_BEGUN = 'begun';
/** Its report if it could not become the program. */
export const LAUNCH_FAILED = 'failed';

/**
 * The only shell that passes on exactly the environment it is given and reports a program that cannot be executed.
 * bash, for one, always adds a variable of its own.
 */
export const WAITING_SHELL = 'dash';

/** The command that waits in a sandbox: a shell that runs what comes through the pipe. */
export function waitingShell(shell: string): string[] {
  return [shell, `/proc/self/fd/${SCRIPT_FD}`];
}

/** Variables with a meaning to the shell: it would refuse some values, or act on them. */
const OWN_NAMES: readonly string[] = ['OPTIND'];

/**
 * The script that turns the waiting shell into the program. Null if the shell cannot do so exactly, or the script does
 * not fit.
 */
export function launchScript(order: LaunchOrder, maxBytes: number): Uint8Array | null {
  if (!canCarry(order)) return null;
  const script = Buffer.from(scriptFor(order));
  // A shell would run a truncated script.
  return script.length > maxBytes ? null : script;
}

function canCarry({ argv, env }: LaunchOrder): boolean {
  const names = Object.keys(env);
  // `%` in PATH, and a leading dash in a program name, have a special meaning to the shell.
  const isPlain = !argv[0]?.startsWith('-') && !env.PATH?.includes('%');
  return isPlain && names.every((name) => /^[A-Za-z_]\w*$/.test(name) && !OWN_NAMES.includes(name));
}

/**
 * Environment and arguments go through the pipe and the shell's own memory, since anyone can read the arguments of a
 * process. The report stays open until the shell becomes the program, or writes to it before exiting; nothing else of
 * the shell reaches the program.
 */
function scriptFor({ argv, cwd, env, stdin }: LaunchOrder): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  const input = stdin === 'null' ? ' </dev/null' : '';
  return [
    `trap 'echo ${LAUNCH_FAILED} >&${REPORT_FD}' 0\n`,
    `echo ${LAUNCH_BEGUN} >&${REPORT_FD}\n`,
    // -P: resolve like the kernel. By default a shell cancels out a link and the `..` after it.
    `cd -P ${quote(cwd)} || exit ${CANNOT_RUN}\n`,
    'unset OLDPWD\n',
    ...variables,
    `exec ${argv.map(quote).join(' ')}${input} ${SCRIPT_FD}<&- ${REPORT_FD}>&-\n`,
  ].join('');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
