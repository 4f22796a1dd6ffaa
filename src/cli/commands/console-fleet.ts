import type { ConsoleFleet, ConsoleMachine, FleetRow, FleetView } from '../../console/index.js';
import {
  FLEET_VARIABLE,
  configurationHome,
  fileExists,
  fleetPath,
  fleetSource,
} from '../../environment/configuration-home.js';
import type { Fleet, FleetSettings, Machine } from '../../fleet/index.js';
import { isExecError } from '../../protocol/errors.js';
import { relayTo } from './console-machines.js';

/** The fleet is asked at most this often, however many pages are open. */
const FRESH_MS = 1_000;
/** A busy machine may miss one call. */
const LOST_AFTER_MS = 5_000;
/** Limits for the machines shown to a page, because machines describe themselves. */
const MAX_MACHINES = 1_000;
const MAX_LABELS = 32;
const MAX_CHARS = 128;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const UNREACHABLE = 'No NATS server of the fleet can be reached at the moment.';

/** The fleet in our configuration; undefined if there is none. */
export function configuredFleet(): FleetDirectory | undefined {
  const isConfigured = process.env[FLEET_VARIABLE]?.trim() || fileExists(fleetPath(configurationHome()));
  return isConfigured ? new FleetDirectory(fleetSource()) : undefined;
}

/** The machines of a fleet, asked for while a page shows them. */
export class FleetDirectory implements ConsoleFleet {
  readonly #source: string;
  readonly #seen = new Map<string, { readonly row: FleetRow; readonly atMs: number }>();
  #fleet: Promise<Fleet> | undefined;
  #view: Promise<FleetView> | undefined;
  #askedAtMs = 0;

  constructor(source: string) {
    this.#source = source;
  }

  view(): Promise<FleetView> {
    if (this.#view && performance.now() - this.#askedAtMs < FRESH_MS) return this.#view;
    this.#askedAtMs = performance.now();
    this.#view = this.#ask();
    return this.#view;
  }

  machine(name: string): ConsoleMachine {
    const url = `fleet:${name}`;
    return {
      id: url,
      kind: 'fleet',
      where: 'in the fleet',
      serve: (channel) => relayTo({ id: name, url }, channel),
    };
  }

  async close(): Promise<void> {
    await this.#fleet?.then((fleet) => fleet.close()).catch(() => undefined);
  }

  async #ask(): Promise<FleetView> {
    try {
      const fleet = await this.#connected();
      const now = performance.now();
      for (const machine of await fleet.list())
        if (NAME.test(machine.name)) this.#seen.set(machine.name, { row: rowOf(machine), atMs: now });
      return this.#known(fleet.isConnected ? null : UNREACHABLE);
    } catch (error) {
      this.#fleet = undefined;
      return this.#known(isExecError(error) ? error.message : UNREACHABLE);
    }
  }

  #known(problem: string | null): FleetView {
    const now = performance.now();
    for (const [name, { atMs }] of this.#seen) if (now - atMs > LOST_AFTER_MS) this.#seen.delete(name);
    const rows = [...this.#seen.values()].map(({ row }) => row).sort((a, b) => (a.name < b.name ? -1 : 1));
    return { problem, machines: rows.slice(0, MAX_MACHINES), total: rows.length };
  }

  async #connected(): Promise<Fleet> {
    const { Fleet, readFleetSettings } = await import('../../fleet/index.js');
    const settings: FleetSettings = readFleetSettings(this.#source);
    this.#fleet ??= Fleet.connect(settings);
    return await this.#fleet;
  }
}

function rowOf({ name, state, labels, version, cores, load, processes, sandbox }: Machine): FleetRow {
  const some = Object.entries(labels).slice(0, MAX_LABELS);
  return {
    name,
    state,
    labels: Object.fromEntries(some.map(([key, value]) => [cut(key), cut(value)])),
    version: cut(version),
    cores,
    load,
    processes,
    sandbox: cut(sandbox),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARS);
}
