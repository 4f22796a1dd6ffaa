import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { linux } from '../kernel/index.js';
import { openExactly, pathChanged } from '../sandbox/index.js';
import { inodeOf } from './scan.js';

/** Mounting takes a few milliseconds; anything longer hangs on a dead file system. */
const LIMIT_MS = 10_000;

/** A message of the tools that is longer than this is of no use. */
const MAX_SAID = 4096;

/** The environment of the tools. */
const TOOL_ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** One directory to mount. */
export interface ToMount {
  /** The directory whose changes are held. */
  readonly path: string;
  /** Where its layers are. */
  readonly place: string;
}

/** Thrown if the tools failed; the message is what they printed. */
export class MountFailure extends Error {}

/** A shell that mounts one directory after the other, in step with us. */
export class Mounting {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<void>;
  #said = '';
  #lines = '';
  #wake: () => void = () => {};
  #over = false;

  constructor(command: readonly string[]) {
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, {
      cwd: '/',
      env: TOOL_ENV,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    this.#closed = new Promise((resolve) => {
      const ended = (): void => {
        this.#over = true;
        this.#wake();
        resolve();
      };
      this.#child.on('error', ended);
      this.#child.on('close', ended);
    });
    // Out of descriptors, there are no pipes, whatever the type says. The error event follows.
    if ((this.#child.stdin as Writable | undefined) === undefined)
      throw new MountFailure('Too many files are open.');
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('latin1').on('data', (text: string) => this.#heard(text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-MAX_SAID);
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /**
   * Lets it mount everything, and says so after each. What it opened must be what is at the path, with no link on the way.
   * Resolves to what identifies each directory below.
   */
  async run(mounts: readonly ToMount[], onMounted: () => void): Promise<string[]> {
    const found: string[] = [];
    for (const { path } of mounts) {
      await this.#expect('mounted');
      found.push(this.#requireSame(path));
      onMounted();
      this.#go();
    }
    await this.#expect('ready');
    return found;
  }

  /** Ends it, in whatever state it is. */
  async end(): Promise<void> {
    this.#go();
    this.#child.stdin.end();
    await this.#closed;
  }

  #go(): void {
    this.#child.stdin.write('go\n');
  }

  #heard(text: string): void {
    this.#lines += text;
    this.#wake();
  }

  async #expect(word: string): Promise<void> {
    while (!this.#lines.includes('\n')) {
      if (this.#over) throw new MountFailure(this.#said.trim() || 'The mount tools could not be run.');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const end = this.#lines.indexOf('\n');
    const line = this.#lines.slice(0, end);
    this.#lines = this.#lines.slice(end + 1);
    if (line !== word) throw new MountFailure(`The mount tools printed something unexpected.`);
  }

  #requireSame(path: string): string {
    const exact = openExactly(path);
    try {
      const [ours, theirs] = [
        fstatSync(exact, { bigint: true }),
        statSync(`/proc/${this.pid}/fd/8`, { bigint: true }),
      ];
      if (ours.dev !== theirs.dev || ours.ino !== theirs.ino) throw pathChanged(path);
      return inodeOf(ours);
    } finally {
      closeSync(exact);
    }
  }

  /** A descriptor of one of its namespaces. */
  namespace(kind: 'mnt' | 'user'): number {
    return openSync(`/proc/${this.pid}/ns/${kind}`, constants.O_RDONLY);
  }

  /** A descriptor of a directory as it sees it. */
  directory(path: string): number {
    return openSync(`/proc/${this.pid}/root${path}`, linux.O_PATH | constants.O_DIRECTORY);
  }
}

/** Runs the tools once. Resolves to whether they could do it. */
export function succeeds([program = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: TOOL_ENV,
      stdio: 'ignore',
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}
