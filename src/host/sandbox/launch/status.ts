import { closeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignalName } from '../../../contract/index.js';
import { readAvailable } from '../../kernel/index.js';
import type { LaunchReport } from './launch-report.js';
import { firstChildOf, hasExecuted, isAlive, leadsSession, send } from './process-state.js';
import { SetupPace } from './setup-pace.js';

/** How it ended, as reported by bubblewrap. */
export type SandboxOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** The command never ran, or everything was killed from outside. */
  | { readonly kind: 'ended' };

/** bubblewrap's status is two short lines; anything longer is not from it. */
const MAX_STATUS_BYTES = 64 * 1024;

/** Between polls for something that is about to happen. */
const POLL_MS = 1;

/** The teardown of a namespace takes far less than this. */
const TEARDOWN_MS = 5_000;

/** On a busy machine it may take a while, and nobody is waiting for it: poll less often then. */
const MAX_TEARDOWN_POLL_MS = 20;

const pace = new SetupPace();

/** A sandbox that already exists only has to execute one program. */
const LAUNCH_FIRST_POLL_MS = 1;
const launchPace = new SetupPace(LAUNCH_FIRST_POLL_MS);

/**
 * A running sandbox as seen from outside. Signals go to the command's own group: bubblewrap in front of it would die
 * from them and take the command down before its handlers ran.
 *
 * There is no event for the moment the command starts, and nothing else in the status is urgent. So it is read on
 * demand, which is cheaper than a stream for every process.
 */
export class SandboxStatus {
  readonly #terminal: boolean;
  #readEnd: number | null;
  #text = '';
  #initPid: number | null = null;
  #exitCode: number | null = null;
  #bwrapGone: () => void = () => {};
  readonly #gone: Promise<void>;
  /** It was killed because the policy could not be upheld. */
  revoked = false;
  /** Settles when bubblewrap and everything inside are gone. */
  readonly ended: Promise<SandboxOutcome>;

  /** Owns the descriptor, which is non-blocking. `initPid`: of a sandbox that another server has made. */
  constructor(readEnd: number, { terminal, initPid }: { terminal: boolean; initPid?: number }) {
    this.#terminal = terminal;
    this.#readEnd = readEnd;
    this.#initPid = initPid ?? null;
    this.#gone = new Promise((resolve) => {
      this.#bwrapGone = resolve;
    });
    // One turn later, so that those waiting for the end of the program learn of it first.
    this.ended = this.#gone.then(() => nextTurn()).then(() => this.#teardown());
  }

  /** Call when bubblewrap was reaped or was never started: nobody writes here any more. Idempotent. */
  over(): void {
    this.#look();
    if (this.#readEnd !== null) closeSync(this.#readEnd);
    this.#readEnd = null;
    this.#bwrapGone();
  }

  /** Where it is reported, until bubblewrap is gone. */
  get descriptor(): number | null {
    return this.#readEnd;
  }

  /** The first process inside, whether or not it is still there. */
  get firstPid(): number | null {
    this.#look();
    return this.#initPid;
  }

  /** The first process inside, while there is one. All others inside are its descendants. */
  get initPid(): number | null {
    this.#look();
    return this.#over ? null : this.#initPid;
  }

  /** The command's exit code, if it ran and has ended. */
  get exitCode(): number | null {
    this.#look();
    return this.#exitCode;
  }

  /**
   * Resolves to true as soon as the command itself is running, or the program a waiting shell is to become; false if it
   * never will. A command that has ended did run, whatever came of it.
   */
  async commandRuns(report: LaunchReport | null = null): Promise<boolean> {
    const polls = report ? launchPace.begin() : pace.begin();
    for (;;) {
      await this.#pause(polls.pauseMs());
      const command = this.#command();
      const launch = report?.look();
      if (launch === 'failed') return false;
      const isProgram = launch === undefined ? command !== null && hasExecuted(command) : launch === 'ended';
      const ran = this.#over ? this.#exitCode !== null : isProgram;
      // A command that has already ended counts as ready in time, too; otherwise short commands would delay the polls
      // ever further.
      if (ran) polls.found();
      if (ran || this.#over) return ran;
    }
  }

  /**
   * The first process inside, once its view is complete: only then does it start the command. Null if the sandbox has
   * ended.
   */
  async untilSetUp(): Promise<number | null> {
    while (this.#command() === null && !this.#over) await this.#pause(POLL_MS);
    return this.#over ? null : this.#initPid;
  }

  /** The policy's promises no longer hold: kills everything. */
  revoke(): void {
    this.revoked = true;
    void this.kill();
  }

  /** Sends a signal to the command's group as soon as it exists. False if the sandbox has ended. */
  async signal(signal: SignalName): Promise<boolean> {
    for (;;) {
      const group = this.#group();
      if (this.#over || group === 'gone') return false;
      if (group !== 'starting') return send(-group, signal);
      await sleep(POLL_MS);
    }
  }

  /**
   * Kills the first process inside, upon which the kernel kills all the others. False if the sandbox has ended. Killing
   * bubblewrap instead would, early on, leave a process behind that waits for ever.
   */
  async kill(): Promise<boolean> {
    this.#look();
    while (!this.#over && this.#initPid === null) {
      await sleep(POLL_MS);
      this.#look();
    }
    return !this.#over && this.#initPid !== null && send(this.#initPid, 'SIGKILL');
  }

  /** Ends early, leaving no timer behind, when bubblewrap is gone. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      void this.#gone.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  get #over(): boolean {
    return this.#readEnd === null || this.#exitCode !== null;
  }

  #look(): void {
    if (this.#readEnd === null) return;
    const text = readAvailable(this.#readEnd);
    if (text === '' || this.#text.length >= MAX_STATUS_BYTES) return;
    this.#text += text;
    this.#initPid ??= numberIn(this.#text, 'child-pid');
    this.#exitCode ??= numberIn(this.#text, 'exit-code');
  }

  #command(): number | null {
    this.#look();
    return this.#initPid === null ? null : firstChildOf(this.#initPid);
  }

  /** Without a terminal the group is that of the first process; with one the command leads a session of its own. */
  #group(): number | 'starting' | 'gone' {
    const command = this.#command();
    if (this.#initPid === null) return 'starting';
    if (command === null) return isAlive(this.#initPid) ? 'starting' : 'gone';
    if (!this.#terminal) return this.#initPid;
    return leadsSession(command) ? command : 'starting';
  }

  async #teardown(): Promise<SandboxOutcome> {
    const deadline = performance.now() + TEARDOWN_MS;
    let pause = POLL_MS;
    while (this.#initPid !== null && isAlive(this.#initPid) && performance.now() < deadline) {
      await sleep(pause);
      pause = Math.min(2 * pause, MAX_TEARDOWN_POLL_MS);
    }
    return this.#exitCode === null ? { kind: 'ended' } : { kind: 'exited', exitCode: this.#exitCode };
  }
}

function numberIn(text: string, member: string): number | null {
  const digits = new RegExp(`"${member}": *(\\d+)`).exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
