import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { SignalName } from '../../contract/index.js';

/** How it ended, as bubblewrap told. */
export type SandboxOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** The command never ran, or everything was killed from outside. */
  | { readonly kind: 'ended' };

/** The status bubblewrap writes is two short lines; more is not from it. */
const MAX_STATUS_BYTES = 64 * 1024;

/** Between the namespace and the command in it lie a few milliseconds of mounting. */
const POLL_MS = 1;

/** A namespace that is being torn down is gone well within this. */
const TEARDOWN_MS = 5_000;

/**
 * The running sandbox as seen from outside. Signals go to the command's own group: bubblewrap in front of it
 * would die of them and take the command along before its handlers ran.
 */
export class SandboxStatus {
  readonly #terminal: boolean;
  readonly #socket: Socket;
  #text = '';
  #initPid: number | null = null;
  #exitCode: number | null = null;
  #over = false;
  /** Settles when bubblewrap and everything inside are gone. */
  readonly ended: Promise<SandboxOutcome>;

  constructor(readEnd: number, { terminal }: { terminal: boolean }) {
    this.#terminal = terminal;
    this.#socket = new Socket({ fd: readEnd, readable: true, writable: false });
    this.#socket.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.ended = new Promise((resolve) => {
      this.#socket.on('error', () => {}).on('close', () => void this.#teardown().then(resolve));
    });
  }

  /** Sends a signal to the command's group, as soon as there is one. False if it is over. */
  async signal(signal: SignalName): Promise<boolean> {
    for (;;) {
      const group = this.#group();
      if (this.#over || group === 'gone') return false;
      if (group !== 'starting') return send(-group, signal);
      await sleep(POLL_MS);
    }
  }

  /**
   * Kills the first process inside, and with it the kernel kills all the others. False if it is over. Do this
   * rather than killing bubblewrap: in its first moments that would leave a process behind that waits for ever.
   */
  async kill(): Promise<boolean> {
    while (!this.#over && this.#initPid === null) await sleep(POLL_MS);
    return !this.#over && this.#initPid !== null && send(this.#initPid, 'SIGKILL');
  }

  #read(text: string): void {
    if (this.#text.length < MAX_STATUS_BYTES) this.#text += text;
    this.#initPid ??= numberIn(this.#text, 'child-pid');
    this.#exitCode ??= numberIn(this.#text, 'exit-code');
    if (this.#exitCode !== null) this.#over = true;
  }

  /** Without a terminal the group is that of the first process; with one the command leads a session of its own. */
  #group(): number | 'starting' | 'gone' {
    if (this.#initPid === null) return 'starting';
    const command = firstChildOf(this.#initPid);
    if (command === null) return isAlive(this.#initPid) ? 'starting' : 'gone';
    if (!this.#terminal) return this.#initPid;
    return leadsSession(command) ? command : 'starting';
  }

  async #teardown(): Promise<SandboxOutcome> {
    this.#over = true;
    const deadline = performance.now() + TEARDOWN_MS;
    while (this.#initPid !== null && isAlive(this.#initPid) && performance.now() < deadline)
      await sleep(POLL_MS);
    return this.#exitCode === null ? { kind: 'ended' } : { kind: 'exited', exitCode: this.#exitCode };
  }
}

function numberIn(text: string, member: string): number | null {
  const digits = new RegExp(`"${member}": *(\\d+)`).exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Children are listed oldest first: the command comes before every orphan the first process inherits. */
function firstChildOf(pid: number): number | null {
  const [first] = readProc(`${pid}/task/${pid}/children`).split(' ');
  return first ? Number(first) : null;
}

function leadsSession(pid: number): boolean {
  return fieldsOf(pid)[3] === String(pid);
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** A dead process whose parent has not looked yet still has a number; it runs nothing and nothing below it does. */
function isAlive(pid: number): boolean {
  const [state] = fieldsOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** What follows the name in parentheses: state, parent, group, session. */
function fieldsOf(pid: number): string[] {
  const text = readProc(`${pid}/stat`);
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function send(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
