import { closeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignalName } from '../../../contract/index.js';
import { readAvailable } from '../../kernel/index.js';
import type { LaunchReport } from './launch-report.js';
import { firstChildOf, hasExecuted, isAlive, leadsSession, send } from './process-state.js';
import { SetupPace } from './setup-pace.js';

/** How it ended, as bubblewrap told. */
export type SandboxOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** The command never ran, or everything was killed from outside. */
  | { readonly kind: 'ended' };

/** The status bubblewrap writes is two short lines; more is not from it. */
const MAX_STATUS_BYTES = 64 * 1024;

/** Between two looks for something that comes any moment. */
const POLL_MS = 1;

/** A namespace that is being torn down is gone well within this. */
const TEARDOWN_MS = 5_000;

/** On a busy machine it may take a while, and nobody waits for it: look less often then. */
const MAX_TEARDOWN_POLL_MS = 20;

const pace = new SetupPace();

/** A sandbox that is there already only has to execute one program. */
const LAUNCH_FIRST_LOOK_MS = 1;
const launchPace = new SetupPace(LAUNCH_FIRST_LOOK_MS);

/**
 * The running sandbox as seen from outside. Signals go to the command's own group: bubblewrap in front of it
 * would die of them and take the command along before its handlers ran.
 *
 * There is no event for the moment the command runs, and nothing else in the status is urgent. So it is looked at
 * where something depends on it, which costs less than a stream for every process.
 */
export class SandboxStatus {
  readonly #terminal: boolean;
  #readEnd: number | null;
  #text = '';
  #initPid: number | null = null;
  #exitCode: number | null = null;
  #bwrapGone: () => void = () => {};
  readonly #gone: Promise<void>;
  /** It was ended because the policy could not be kept up. */
  revoked = false;
  /** Settles when bubblewrap and everything inside are gone. */
  readonly ended: Promise<SandboxOutcome>;

  /** Owns the descriptor, which does not block. */
  constructor(readEnd: number, { terminal }: { terminal: boolean }) {
    this.#terminal = terminal;
    this.#readEnd = readEnd;
    this.#gone = new Promise((resolve) => {
      this.#bwrapGone = resolve;
    });
    // A turn later: whoever waits for the end of the program hears of it first.
    this.ended = this.#gone.then(() => nextTurn()).then(() => this.#teardown());
  }

  /** To be called when bubblewrap was reaped, or never came to be: nobody writes here any more. Idempotent. */
  over(): void {
    this.#look();
    if (this.#readEnd !== null) closeSync(this.#readEnd);
    this.#readEnd = null;
    this.#bwrapGone();
  }

  /** What the command ended with, if it ever ran and has ended. */
  get exitCode(): number | null {
    this.#look();
    return this.#exitCode;
  }

  /**
   * True as soon as the command itself runs, or what a waiting one is to become; false if it never will.
   * One that has ended ran, whatever came of it.
   */
  async commandRuns(report: LaunchReport | null = null): Promise<boolean> {
    const looks = report ? launchPace.begin() : pace.begin();
    for (;;) {
      await this.#pause(looks.pauseMs());
      const command = this.#command();
      const launch = report?.look();
      if (launch === 'failed') return false;
      const isProgram = launch === undefined ? command !== null && hasExecuted(command) : launch === 'ended';
      const ran = this.#over ? this.#exitCode !== null : isProgram;
      // Having ended is to have been made in time, too: else short commands would put the looks off ever further.
      if (ran) looks.found();
      if (ran || this.#over) return ran;
    }
  }

  /** The first process inside, once its view is complete: only then does it start the command. Null if it is over. */
  async untilSetUp(): Promise<number | null> {
    while (this.#command() === null && !this.#over) await this.#pause(POLL_MS);
    return this.#over ? null : this.#initPid;
  }

  /** What the policy promises no longer holds: ends all of it. */
  revoke(): void {
    this.revoked = true;
    void this.kill();
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
    this.#look();
    while (!this.#over && this.#initPid === null) {
      await sleep(POLL_MS);
      this.#look();
    }
    return !this.#over && this.#initPid !== null && send(this.#initPid, 'SIGKILL');
  }

  /** Ends early, and leaves no timer behind, when bubblewrap is gone. */
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
