import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../protocol/errors.js';
import type { Bus } from './bus/bus.js';
import type { ExpectedMachines } from './expected-machines.js';

/** A machine that has just joined, or changes to another NATS node, is known to all nodes after a moment. */
const NOBODY_PATIENCE_MS = 500;
/** The same after a NATS node has come or gone, which machines may be looking for. */
const UNSETTLED_PATIENCE_MS = 3_000;
/** A machine that the registry knows, but nobody reaches: it looks for another NATS node, or has died less than half a minute ago. */
export const REGISTERED_PATIENCE_MS = 5_000;
const ASK_AGAIN_MS = 50;
export const REGISTERED_ASK_AGAIN_MS = 150;
/** A single NATS node may be behind when it says that a machine is not registered. */
const DENIALS = 2;

export interface AbsentMachineOptions {
  readonly bus: Pick<Bus, 'isSettled'>;
  readonly expected: Pick<ExpectedMachines, 'knows'>;
  readonly machine: string;
  /** How long to wait if the registry knows the machine. */
  readonly registeredMs?: number;
}

/** A machine that is asked for while nobody answers to its name. How long that may go on depends on what the registry says. */
export class AbsentMachine {
  readonly #options: AbsentMachineOptions;
  readonly #begunAt = performance.now();
  #denials = 0;
  #isKnown: boolean | undefined;

  constructor(options: AbsentMachineOptions) {
    this.#options = options;
  }

  /** Waits before the machine is asked again. Resolves to false if that is pointless. */
  async wait(): Promise<boolean> {
    const { bus, expected, machine } = this.#options;
    const { isSettled } = bus;
    this.#isKnown = await expected.knows(machine);
    if (isSettled && this.#isKnown === false) this.#denials += 1;
    else await pause(this.#isKnown ? REGISTERED_ASK_AGAIN_MS : ASK_AGAIN_MS);
    return this.#denials < DENIALS && performance.now() < this.#begunAt + this.#patienceMs;
  }

  /** What its caller is told in the end. */
  error(): ExecError {
    const { machine } = this.#options;
    const message = this.#isKnown
      ? `"${machine}" is in the registry of the fleet, but nobody answers: it was lost a moment ago, or cannot reach NATS.`
      : `No machine "${machine}" is in the fleet; see \`execwire fleet ls\`.`;
    return new ExecError('notConnected', message, { data: { machine, isAbsent: true } });
  }

  get #patienceMs(): number {
    if (this.#isKnown) return this.#options.registeredMs ?? REGISTERED_PATIENCE_MS;
    return this.#options.bus.isSettled ? NOBODY_PATIENCE_MS : UNSETTLED_PATIENCE_MS;
  }
}
