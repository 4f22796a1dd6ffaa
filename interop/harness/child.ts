import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { giveUpIfLate } from './wait-limit.js';

/** How long a program may take to end when asked politely. Several times what either server needs on a busy machine. */
const politeMs = 5_000;

/** How a child ended: by a status or by a signal, never both. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a child needs to start. The environment is complete: nothing of ours leaks into it. */
export interface ChildOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program under observation: everything it prints is kept, and its whole group ends with us. */
export class Child implements AsyncDisposable {
  readonly ended: Promise<ChildEnd>;
  stdout = '';
  stderr = '';
  readonly #process: ChildProcess;

  constructor({ argv, cwd, env }: ChildOptions) {
    const [program = '', ...args] = argv;
    // A group of its own, because the Codex command is a launcher whose real program must die with it.
    this.#process = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.#process, 'close').then(([code, signal]) => ({ code, signal }));
    // A failed spawn is told to whoever awaits the end; it must not bring the test runner down first.
    this.ended.catch(() => undefined);
  }

  /** The first line of stdout; rejects when the program ends without one. */
  async firstLine(): Promise<string> {
    const died = this.ended.then((end) => {
      throw new Error(`ended (${describeEnd(end)}) before its first line; stderr:\n${this.stderr}`);
    });
    while (!this.stdout.includes('\n')) {
      await Promise.race([this.#process.stdout && once(this.#process.stdout, 'data'), died]);
    }
    died.catch(() => undefined);
    return this.stdout.slice(0, this.stdout.indexOf('\n'));
  }

  /** Kills the group at once, as a crash would, and waits until the program is gone. Safe to call again. */
  async kill(): Promise<void> {
    this.#signalGroup('SIGKILL');
    await this.ended.catch(() => undefined);
  }

  /** Asks the program to end, so that it can clean up, and kills it when it does not. Safe to call again. */
  async stop(): Promise<void> {
    this.#signalGroup('SIGTERM');
    const timer = setTimeout(() => this.#signalGroup('SIGKILL'), politeMs);
    await this.ended.catch(() => undefined).finally(() => clearTimeout(timer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // The group may have ended between our look and our signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** `exit 1` or `SIGKILL`, for messages. */
export function describeEnd({ code, signal }: ChildEnd): string {
  return signal ?? `exit ${code}`;
}

/** Waits until a process is gone. */
export async function processEnds(pid: number): Promise<void> {
  const since = performance.now();
  while (isAlive(pid)) {
    giveUpIfLate(since, 'a process to end');
    await delay(20);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
