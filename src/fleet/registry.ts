import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from './bus/bus.js';
import type { MemberLog } from './join-options.js';
import { asHeard, Machine } from './machine.js';
import { measureTime } from './jobs/measure-time.js';
import { registrySubject, StreamStore, streamsOf } from './store/index.js';

/** A third of the time after which an entry expires, so that two renewals may fail. */
const RENEW_INTERVAL_MS = 10_000;
/** An entry that cannot be renewed in time is not worth waiting for. */
const RENEWAL_PATIENCE_MS = 5_000;

/** How long joining waits for the registry, which may just be choosing a leader. */
const FIRST_ENTRY_MS = 500;

export interface RegistryEntryOptions {
  readonly bus: Bus;
  readonly fleet: string;
  readonly describe: () => Machine;
  /**
   * Called when somebody else has written to the entry since we did. Resolves to true if the name is theirs: the store knows who
   * came last.
   */
  readonly overtaken: () => Promise<boolean>;
  readonly log?: MemberLog | undefined;
}

/**
 * This machine in the registry of its fleet, which NATS keeps: renewed before it expires, and whenever something changes.
 * Without JetStream, or before the registry is created, there is none, and the machine is found by asking.
 */
export class RegistryEntry {
  readonly #options: RegistryEntryOptions;
  #store: StreamStore | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;
  #tries = 0;
  #written = 0;
  /** The number of the last message that we have stored; 0: none yet. */
  #seq = 0;

  constructor(options: RegistryEntryOptions) {
    this.#options = options;
  }

  /** Enters the machine, and keeps it there. Resolves when it is entered, or soon if that takes long. */
  async keep(): Promise<void> {
    this.#timer = setInterval(() => this.renew(), RENEW_INTERVAL_MS).unref();
    this.renew();
    await Promise.race([this.#writing, pause(FIRST_ENTRY_MS, undefined, { ref: false })]);
  }

  renew(): void {
    this.#isStale = true;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Resolves to true if NATS has confirmed, from now on, that nobody has entered this name after us. */
  async confirm(): Promise<boolean> {
    if (this.#isClosed || !this.#timer) return false;
    const before = this.#written;
    this.renew();
    await this.#writing;
    return this.#written > before;
  }

  /** Ends the renewal, and takes the machine out. */
  async close({ remove }: { remove: boolean }): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#writing;
    if (!remove) return;
    const { fleet, describe } = this.#options;
    // As the KV API of NATS deletes a key.
    await this.#store
      ?.put(registrySubject(fleet, describe().name), '', {
        headers: { 'KV-Operation': 'DEL' },
        patienceMs: 0,
        after: this.#seq,
      })
      .catch(() => undefined);
  }

  async #write(): Promise<void> {
    const { fleet, describe, log } = this.#options;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      const machine = describe();
      try {
        this.#store ??= await this.#open();
        if (this.#isClosed) return;
        this.#tries += 1;
        if (!(await this.#put(this.#store, registrySubject(fleet, machine.name), JSON.stringify(machine))))
          return;
        this.#written += 1;
      } catch (error) {
        // The next renewal tries again.
        if (this.#tries > 1)
          log?.warn({ reason: reasonOf(error) }, 'cannot renew the registry entry of this machine');
        return;
      }
    }
  }

  /** Resolves to false if the name is somebody else's. The first time, it becomes ours: nobody has answered to it. */
  async #put(store: StreamStore, subject: string, text: string): Promise<boolean> {
    const patienceMs = RENEWAL_PATIENCE_MS;
    let seq = this.#seq === 0 ? null : await store.put(subject, text, { after: this.#seq, patienceMs });
    // An entry that has expired, or a renewal of ours that was stored without our being told, is nobody else's.
    if (seq === null && this.#seq > 0 && (await this.#options.overtaken())) return false;
    seq ??= await store.put(subject, text, { patienceMs });
    this.#seq = seq ?? 0;
    return true;
  }

  async #open(): Promise<StreamStore> {
    const { bus, fleet } = this.#options;
    return await StreamStore.open(bus, streamsOf(fleet).machines);
  }
}

/** The names of all machines in the registry. */
export async function registeredNames(bus: Bus, fleet: string): Promise<string[]> {
  const store = await StreamStore.open(bus, streamsOf(fleet).machines);
  const entries = await store.scan(registrySubject(fleet, '>'));
  const prefix = registrySubject(fleet, '');
  return entries.filter(({ data }) => data.length > 0).map(({ subject }) => subject.slice(prefix.length));
}

/** Whether a machine is in the registry. */
export async function isRegistered(bus: Bus, fleet: string, machine: string): Promise<boolean> {
  const store = await StreamStore.open(bus, streamsOf(fleet).machines);
  return ((await store.get(registrySubject(fleet, machine)))?.data.length ?? 0) > 0;
}

/** The machines in the registry, by name. */
export async function listRegistered(
  bus: Bus,
  fleet: string,
  { machines, identity }: { machines?: readonly string[] | undefined; identity: string },
): Promise<Machine[]> {
  const store = await StreamStore.open(bus, streamsOf(fleet).machines);
  // A scan measures it, too. Without it, what was entered may be up to half a minute old.
  if (machines && store.now() === undefined) await measureTime(bus, fleet, identity).catch(() => undefined);
  const entries = machines
    ? await Promise.all(machines.map((name) => store.get(registrySubject(fleet, name))))
    : await store.scan(registrySubject(fleet, '>'));
  return entries
    .flatMap((entry) => {
      const machine = entry ? parsed(entry.data) : undefined;
      // The NATS server vouches for the name in the subject.
      if (!machine || entry?.subject !== registrySubject(fleet, machine.name)) return [];
      return [asHeard(machine, Math.max(0, (store.now() ?? entry.timeMs) - entry.timeMs))];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function parsed(data: Uint8Array): Machine | undefined {
  try {
    return Machine.safeParse(JSON.parse(new TextDecoder().decode(data))).data;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
