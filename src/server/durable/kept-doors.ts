import type { DurableOptions } from './durable-state.js';
import { ARRIVED_KEY, LISTENER_KEY } from './adopt-state.js';

/** Passed at a time: the kernel has a limit. */
const BATCH = 200;

interface Passed {
  readonly unread: Uint8Array;
  readonly unsent: Uint8Array;
  readonly principal: string;
}

/** A listener, as far as another server continues with it. */
interface PassableListener {
  readonly descriptor: number | null;
  rest(): Promise<void>;
  untouched(): readonly number[];
  welcome(fd: number): void;
  adopt(fd: number, passed: Passed): void;
}

/** The sockets a server listens on, which the server after it takes over: clients that come meanwhile wait. */
export class KeptDoors {
  readonly #durable: DurableOptions | undefined;
  readonly #inherited: Readonly<Record<string, number>>;
  readonly #listeners: PassableListener[] = [];

  constructor(durable: DurableOptions | undefined) {
    this.#durable = durable;
    this.#inherited = durable?.keeper.inherited.get(LISTENER_KEY)?.descriptors ?? {};
  }

  /** The socket an earlier server opened for the address with this number. */
  socketOf(index: number): { readonly fd: number; readonly isOurs: boolean } | undefined {
    const fd = this.#inherited[String(index)];
    const isOurs = index >= (this.#durable?.passedSockets ?? 0);
    return fd === undefined ? undefined : { fd, isOurs };
  }

  /** To be called for each address, in their order. */
  opened(listener: PassableListener): void {
    const name = String(this.#listeners.push(listener) - 1);
    const { descriptor } = listener;
    if (!this.#durable || descriptor === null || name in this.#inherited) return;
    this.#durable.keeper.hold(LISTENER_KEY, { [name]: descriptor });
  }

  /** Serves the connections that another server has accepted and not begun with. */
  welcomeArrived(): void {
    const arrived = this.#durable?.keeper.inherited.get(ARRIVED_KEY)?.descriptors ?? {};
    this.#durable?.keeper.letGo(ARRIVED_KEY);
    for (const [name, fd] of Object.entries(arrived)) this.#listeners[Number.parseInt(name, 10)]?.welcome(fd);
  }

  /** Continues with a connection of another server. Owns its descriptor. */
  adopt(index: number, fd: number, passed: Passed): void {
    this.#listeners[index]?.adopt(fd, passed);
  }

  /** Begins with no more clients. Resolves when all it had begun with are connected or refused. */
  async rest(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.rest()));
  }

  /** Leaves those that came meanwhile to the next server. */
  handOver(): void {
    const arrived = this.#listeners.flatMap((listener, index) =>
      listener.untouched().map((fd, n) => [`${index}:${n}`, fd] as const),
    );
    for (let at = 0; at < arrived.length; at += BATCH)
      this.#durable?.keeper.pass(ARRIVED_KEY, Object.fromEntries(arrived.slice(at, at + BATCH)));
  }
}
