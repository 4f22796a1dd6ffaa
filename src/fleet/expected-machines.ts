import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from './bus/bus.js';
import { isRegistered, registeredNames } from './registry.js';

/** The registry answers in milliseconds, or it is choosing a leader and says nothing for a long time. */
const PATIENCE_MS = 500;

/** What a client may expect of its fleet before it has asked: what the registry says, where there is one. */
export class ExpectedMachines {
  readonly #bus: Bus;
  readonly #fleet: string;
  readonly #reachable: readonly string[] | undefined;
  #names: Promise<readonly string[] | undefined> | undefined;

  /** `reachable`: the only machines that our credentials reach. */
  constructor(bus: Bus, fleet: string, reachable?: readonly string[]) {
    this.#bus = bus;
    this.#fleet = fleet;
    this.#reachable = reachable;
  }

  /** Who should answer a roll call; undefined if nobody knows. One look serves all who ask meanwhile. */
  async names(): Promise<readonly string[] | undefined> {
    if (this.#reachable) return this.#reachable;
    if (!this.#bus.nats.info?.jetstream) return undefined;
    this.#names ??= registeredNames(this.#bus, this.#fleet)
      .catch(() => undefined)
      .finally(() => (this.#names = undefined));
    return await this.#names;
  }

  /** Whether the registry knows a machine; undefined if it does not say. */
  async knows(machine: string): Promise<boolean | undefined> {
    if (!this.#bus.nats.info?.jetstream) return undefined;
    const known = isRegistered(this.#bus, this.#fleet, machine).catch(() => undefined);
    return await Promise.race([known, pause(PATIENCE_MS, undefined, { ref: false })]);
  }
}
