import { dialWebSocket, RemoteEnvironment, type ServerProcess } from '../../../src/client/index.js';
import type { ExecResult } from '../../../src/protocol/index.js';
import { checkSession, type MachineRow, proof, session } from './session.js';
import { Store } from './store.js';
import { messageOf } from './errors.js';

export type Usage = ExecResult<'environment/usage'>;
export type Info = ExecResult<'environment/info'>;

/** What is measured of a machine at one moment. */
export interface Sample {
  readonly atMs: number;
  readonly rttMs: number;
  readonly running: number;
  /** What processes printed since the sample before, per second; null if that is not known. */
  readonly outputPerSecond: number | null;
  readonly usage: Usage | null;
}

export interface MachineState {
  readonly status: 'connecting' | 'online' | 'offline';
  /** Why it cannot be reached. */
  readonly problem: string | null;
  readonly info: Info | null;
  readonly processes: readonly ServerProcess[];
  /** When the list was fetched, by the clock of this browser. */
  readonly listedAtMs: number;
  /** Grows when a connection could not be restored and was made anew: views do the same. */
  readonly connections: number;
  readonly samples: readonly Sample[];
}

/** As machines of a fleet are named everywhere else. */
const FLEET = 'fleet:';
const POLL_MS = 1_000;
/** On a slow line, the list leaves this many times what it takes to everything else. */
const REST = 3;
const HIDDEN_POLL_MS = 10_000;
const RETRY_MS = 2_000;
/** An hour of samples, one a second while somebody looks. */
const MAX_SAMPLES = 3_600;

/** One machine: a connection that comes back by itself, the list of its processes, and what was measured. */
export class Machine {
  readonly row: MachineRow;
  readonly state = new Store<MachineState>({
    status: 'connecting',
    problem: null,
    info: null,
    processes: [],
    listedAtMs: 0,
    connections: 0,
    samples: [],
  });
  #environment: RemoteEnvironment | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(row: MachineRow) {
    this.row = row;
    void this.#run();
  }

  get id(): string {
    return this.row.id;
  }

  /** The connection for short requests. Throws if the machine cannot be reached now. */
  get environment(): RemoteEnvironment {
    if (this.#environment) return this.#environment;
    throw new Error(`${this.id} cannot be reached at the moment.`);
  }

  /** The connection as soon as there is one. Rejects when the machine cannot be reached. */
  async connected(): Promise<RemoteEnvironment> {
    while (this.state.value.info === null && this.state.value.status === 'connecting')
      await new Promise<void>((resolve) => {
        const stop = this.state.subscribe(() => {
          stop();
          resolve();
        });
      });
    return this.environment;
  }

  /** A connection of its own, for one view: a flood in it slows nobody else. */
  async connect(): Promise<RemoteEnvironment> {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const { kind, id } = this.row;
    const path = kind === 'fleet' ? `fleet/${id.slice(FLEET.length)}` : `machines/${id}`;
    const url = `${scheme}://${location.host}/${path}`;
    return await RemoteEnvironment.connect({
      id: this.id,
      dial: async () => {
        try {
          return await dialWebSocket(url, { protocols: ['execwire', `proof.${proof()}`] });
        } catch (error) {
          // Somebody may have signed us out, and then trying again is in vain. A browser does not say why it was refused.
          void checkSession();
          throw error;
        }
      },
      resume: true,
      clientName: 'console',
    });
  }

  /** Fetches the list now instead of in a second. */
  refresh(): void {
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
    void this.#environment?.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#follow(await this.connect());
      } catch (error) {
        this.#set({ status: 'offline', problem: messageOf(error) });
      }
      this.#environment = undefined;
      await this.#pause(RETRY_MS);
    }
  }

  async #follow(environment: RemoteEnvironment): Promise<void> {
    this.#environment = environment;
    const stop = environment.watchConnection((isConnected) => {
      this.#set({ status: isConnected ? 'online' : 'connecting', problem: null });
    });
    try {
      const info = await environment.client.call('environment/info', null);
      const connections = this.state.value.connections + 1;
      this.#set({ status: 'online', problem: null, info, connections });
      while (!environment.lost && !this.#isClosed) {
        const began = performance.now();
        await this.#look(environment);
        const tookMs = performance.now() - began;
        await this.#pause(Math.max(document.hidden ? HIDDEN_POLL_MS : POLL_MS, tookMs * REST));
      }
    } finally {
      stop();
    }
  }

  async #look(environment: RemoteEnvironment): Promise<void> {
    const began = performance.now();
    await environment.client.call('environment/status', null);
    const rttMs = performance.now() - began;
    const offers = environment.client.serverCapabilities;
    const processes = offers.serverProcesses ? await environment.listServer() : [];
    const usage = offers.usage ? await environment.client.call('environment/usage', null) : null;
    const running = processes.filter(({ exited }) => !exited).length;
    const { samples, processes: before, listedAtMs } = this.state.value;
    const atMs = Date.now();
    const printed = listedAtMs === 0 ? null : printedSince(before, processes);
    const outputPerSecond = printed === null ? null : (printed * 1000) / Math.max(1, atMs - listedAtMs);
    const sample = { atMs, rttMs, running, outputPerSecond, usage };
    this.#set({
      processes,
      listedAtMs: Date.now(),
      samples: [...samples.slice(1 - MAX_SAMPLES), sample],
    });
  }

  #set(change: Partial<MachineState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Bytes that were printed between two lists; null if the server does not count them. */
function printedSince(before: readonly ServerProcess[], now: readonly ServerProcess[]): number | null {
  const keyOf = ({ sessionId, processId, startedAtMs }: ServerProcess): string =>
    `${sessionId} ${processId} ${startedAtMs}`;
  const known = new Map(before.map((row) => [keyOf(row), row.details?.outputBytes ?? 0]));
  let [sum, isKnown] = [0, now.length === 0];
  for (const row of now) {
    const bytes = row.details?.outputBytes;
    if (bytes === undefined) continue;
    isKnown = true;
    sum += Math.max(0, bytes - (known.get(keyOf(row)) ?? 0));
  }
  return isKnown ? sum : null;
}

/** The machines of whoever is signed in. */
export const machines = new Store<readonly Machine[]>([]);

export function openMachines(rows: readonly MachineRow[]): void {
  closeMachines();
  machines.set(rows.map((row) => new Machine(row)));
}

/** Connects to a machine of the fleet, if that is one: it may have many, so only those that somebody looks at are connected. */
export function openFleetMachine(id: string): void {
  const who = session.value;
  if (who === null || who === 'loading' || !who.hasFleet || !/^fleet:[A-Za-z0-9_-]{1,64}$/.test(id)) return;
  if (machines.value.some((machine) => machine.id === id)) return;
  machines.update((all) => [...all, new Machine({ id, kind: 'fleet', where: 'in the fleet' })]);
}

/** Disconnects from a machine of the fleet. */
export function closeFleetMachine(closed: Machine): void {
  closed.close();
  machines.update((all) => all.filter((machine) => machine !== closed));
}

export function closeMachines(): void {
  for (const machine of machines.value) machine.close();
  machines.set([]);
}
