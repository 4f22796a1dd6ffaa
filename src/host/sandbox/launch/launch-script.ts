/** What a waiting shell is to become. Everything decided but the sandbox, which is there already. */
export interface LaunchOrder {
  /** `argv[0]` as the program is to see it. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'pipe' | 'null';
}

/** Where `sh` and `env` are inside. */
export interface LaunchTools {
  readonly shell: string;
  readonly env: string;
}

/** The number under which the shell finds its script. One digit: more is no number to every shell. */
export const SCRIPT_FD = 6;

/** The status of a shell or an `env` that could not do what it was told; the second for a program that is not there. */
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

/** The command that waits in a sandbox: a shell that does what comes through the pipe. */
export function waitingShell({ shell }: LaunchTools): string[] {
  return [shell, `/proc/self/fd/${SCRIPT_FD}`];
}

/** What to write into the pipe, and how to tell afterwards whether the program itself runs. */
export class Launch {
  readonly script: Uint8Array;
  readonly #waiting: string;
  readonly #underWay: string;
  readonly #complaints: readonly string[];

  private constructor(script: Uint8Array, order: LaunchOrder, tools: LaunchTools) {
    this.script = script;
    this.#waiting = commandLine(waitingShell(tools));
    this.#underWay = commandLine(becoming(order, tools));
    this.#complaints = [`${ownSpelling(tools.env)}: `, `${waitingShell(tools).at(-1)}: `];
  }

  /** Null for what cannot be said this way, or not at once: a shell would take half of it for all. */
  static of(order: LaunchOrder, tools: LaunchTools, maxBytes: number): Launch | null {
    // `env` takes such a name for a variable; and whoever runs the very same shell could not be told from ours.
    if (order.argv[0]?.includes('=') || commandLine(order.argv) === commandLine(waitingShell(tools)))
      return null;
    const script = Buffer.from(scriptFor(order, tools));
    return script.length > maxBytes ? null : new Launch(script, order, tools);
  }

  /**
   * Whether a process with this command line (as in /proc) still is on its way to become the program. In the middle of
   * executing the next one it has none, and when it is dead: then how it ended will tell.
   */
  isUnderWay(seen: string): boolean {
    return seen === '' || seen === this.#waiting || seen === this.#underWay;
  }

  /** Whether this may be the end of a launch that failed, rather than of the program. `saysFailed` knows. */
  mayHaveFailed(exitCode: number | null): boolean {
    return exitCode === CANNOT_RUN || exitCode === NOT_FOUND;
  }

  /** Whether the only words on stderr are about a launch that failed. */
  saysFailed(said: string): boolean {
    const isComplaint = (line: string) => this.#complaints.some((complaint) => line.startsWith(complaint));
    return said.trimEnd().split('\n').every(isComplaint);
  }
}

/** `env` sets names no shell could, and nothing else. The shell itself is gone by then, with all its descriptors. */
function scriptFor(order: LaunchOrder, tools: LaunchTools): string {
  const command = becoming(order, tools).map(quote).join(' ');
  const input = order.stdin === 'null' ? ' </dev/null' : '';
  // -P: as the kernel goes there. A shell's own way is to drop a link together with the `..` behind it.
  return `cd -P ${quote(order.cwd)} || exit ${CANNOT_RUN}\nexec ${command}${input} ${SCRIPT_FD}<&-\n`;
}

function becoming({ argv, env }: LaunchOrder, tools: LaunchTools): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [ownSpelling(tools.env), '-i', '--', ...variables, ...argv];
}

/** A tool names itself as it was called: so ours is not taken for the one of a script that begins with `#!/usr/bin/env`. */
function ownSpelling(tool: string): string {
  return tool.replace(/\/(?=[^/]*$)/, '/./');
}

/** As in /proc/PID/cmdline, read as UTF-8: what cannot be written in it is another character there. */
function commandLine(argv: readonly string[]): string {
  return Buffer.from(argv.map((word) => `${word}\0`).join('')).toString();
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
