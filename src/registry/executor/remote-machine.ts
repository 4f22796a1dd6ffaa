import { encodeKey, generateKeyPair, type KeyPair } from '../noise/key-pair.js';
import { loadMlKem, type MlKem } from '../noise/ml-kem.js';
import { CallFailure, type Registered, RegistryCalls, type RegistryPlace } from '../registry-calls.js';
import { dialLine } from '../dial-line.js';
import { type Accept, StreamTable } from './stream-table.js';
import type { Line } from '../relay/line.js';

/** The delays between attempts, the same as Codex's. Up to half of each is random. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const NORMAL = 1000;

export interface RemoteMachineOptions extends RegistryPlace {
  readonly accept: Accept;
  /** How much of messages that have not ended is kept, of all clients together. */
  readonly maxUnfinishedBytes?: number | undefined;
  readonly log?: { info(details: object, message: string): void } | undefined;
  /** Called when the registry no longer accepts this machine. */
  readonly onLost: (reason: string) => void;
}

/** This machine at a registry, reachable through a connection that it dials itself. */
export class RemoteMachine {
  readonly #options: RemoteMachineOptions;
  readonly #kem: MlKem;
  readonly #own: KeyPair;
  readonly #calls: RegistryCalls;
  #registered: Registered;
  #line: Line | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(
    options: RemoteMachineOptions,
    parts: { kem: MlKem; own: KeyPair; registered: Registered },
  ) {
    this.#options = options;
    this.#calls = new RegistryCalls(options);
    this.#kem = parts.kem;
    this.#own = parts.own;
    this.#registered = parts.registered;
  }

  /** Registers and connects, with a key that lives as long as this process. Rejects if the registry refuses. */
  static async join(options: RemoteMachineOptions): Promise<RemoteMachine> {
    const kem = await loadMlKem();
    const own = generateKeyPair(kem);
    const registered = await new RegistryCalls(options).register(encodeKey(own.public));
    const machine = new RemoteMachine(options, { kem, own, registered });
    machine.#serve(await dialLine(registered.url));
    return machine;
  }

  /** Leaves the registry. Resolves when the connection is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#line?.close('the machine is shutting down', NORMAL);
    await this.#line?.gone;
  }

  #serve(line: Line): void {
    const { environmentId, accept, maxUnfinishedBytes } = this.#options;
    const streams = new StreamTable({
      line,
      kem: this.#kem,
      own: this.#own,
      environmentId,
      registrationId: this.#registered.executor_registration_id,
      calls: this.#calls,
      accept,
      maxUnfinishedBytes,
    });
    this.#line = line;
    line.open({
      frame: (frame) => {
        // A connection that ends at once does not count as a success.
        this.#failures = 0;
        streams.receive(frame);
      },
      closed: () => {
        streams.close();
        if (this.#isClosed) return;
        this.#options.log?.info({ environment: environmentId }, 'the connection to the registry is lost');
        this.#tryAgainLater();
      },
    });
    if (this.#isClosed) line.close('the machine is shutting down', NORMAL);
    this.#options.log?.info({ environment: environmentId }, 'connected to the registry');
  }

  #tryAgainLater(): void {
    if (this.#isClosed) return;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures) * (1 - Math.random() / 2);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#timer = setTimeout(() => void this.#dialAgain(), wait);
  }

  async #dialAgain(): Promise<void> {
    try {
      this.#serve(await dialLine(this.#registered.url));
    } catch (error) {
      const isUnknown = error instanceof CallFailure && error.isFinal;
      if (!isUnknown || (await this.#registerAgain())) this.#tryAgainLater();
    }
  }

  /** Resolves to false if trying again is pointless. */
  async #registerAgain(): Promise<boolean> {
    try {
      this.#registered = await this.#calls.register(encodeKey(this.#own.public));
      this.#failures = 0;
    } catch (error) {
      if (!(error instanceof CallFailure && error.isFinal)) return true;
      if (!this.#isClosed) this.#options.onLost(error.message);
      return false;
    }
    return true;
  }
}
