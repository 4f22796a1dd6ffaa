import {
  libc,
  linux,
  receiveMessage,
  sendMessage,
  spawnFailures,
  watchReadiness,
} from '../host/kernel/index.js';
import { inheritLineage, listenForExits, reapedElsewhere } from '../host/spawn/parent.js';
import { KEEPER_FD, KEEPER_VARIABLE, LEDGER_FD, type ToKeeper, type ToServer } from './messages.js';
import type { KeeperFacts } from './server-process.js';

/** When to try again to tell the keeper something it had no room for. */
const RETRY_MS = 20;
const SIGKILL = 9;

/** What earlier servers left with the keeper under one key. */
export interface Inherited {
  readonly descriptors: Readonly<Record<string, number>>;
  /** Of no use: something is missing. */
  readonly spoiled: boolean;
}

/** The facts our keeper passed, if we have one. Nobody below us should think that it has one, too. */
export function takeKeeperFacts(env: NodeJS.ProcessEnv): KeeperFacts | null {
  const text = env[KEEPER_VARIABLE];
  delete env[KEEPER_VARIABLE];
  return text === undefined ? null : (JSON.parse(text) as KeeperFacts);
}

/** A server's connection to its keeper. */
export class KeeperLink {
  readonly facts: KeeperFacts;
  readonly inherited: ReadonlyMap<string, Inherited>;
  /** Messages it had no room for. */
  readonly #waiting: ToKeeper[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Receives everything that is kept, which takes a moment. */
  constructor(facts: KeeperFacts) {
    this.facts = facts;
    // Not a moment longer than the keeper: whoever serves on without one promises what nobody can hold.
    libc().prctl(linux.PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    this.inherited = receiveAll();
  }

  /** Becomes the next server of the line. Call before anything is started. */
  inherit(): void {
    inheritLineage(this.facts, { ledger: LEDGER_FD, isFirst: this.facts.generation === 1 });
  }

  /** Starts to hear of ends that the keeper has seen. Call once all processes are taken up. */
  listen(): void {
    listenForExits();
    watchReadiness(KEEPER_FD, 'read', () => this.#receive());
  }

  /** Throws `spawnFailed` if the keeper does not take it. */
  hold(key: string, descriptors: Readonly<Record<string, number>>): void {
    const message = { op: 'hold', key, names: Object.keys(descriptors) } as const;
    if (this.#waiting.length > 0 || !this.#send(message, Object.values(descriptors)))
      throw spawnFailures.noRoom('EAGAIN');
  }

  letGo(key: string, name?: string): void {
    this.#tell({ op: 'letGo', key, name });
  }

  spoil(key: string): void {
    this.#tell({ op: 'spoil', key });
  }

  ready(): void {
    this.#tell({ op: 'ready' });
  }

  #receive(): void {
    for (;;) {
      const message = receiveMessage(KEEPER_FD);
      if (message === null) return;
      // The kernel kills us, too, but this may be sooner.
      if (message === 'end') process.exit(1);
      const { op, ...rest } = JSON.parse(message.text) as ToServer;
      if (op === 'ended' && 'pid' in rest) {
        reapedElsewhere(rest.pid, rest.status);
        this.#tell({ op: 'recorded', pid: rest.pid });
      }
    }
  }

  /** In order; later if the keeper has no room now. */
  #tell(message: ToKeeper): void {
    if (this.#waiting.length === 0 && this.#send(message)) return;
    this.#waiting.push(message);
    this.#timer ??= setInterval(() => this.#retry(), RETRY_MS);
  }

  #retry(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!this.#send(next)) return;
      this.#waiting.shift();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(message: ToKeeper, descriptors: readonly number[] = []): boolean {
    return sendMessage(KEEPER_FD, JSON.stringify(message), descriptors);
  }
}

function receiveAll(): Map<string, Inherited> {
  const inherited = new Map<string, Inherited>();
  for (;;) {
    sendMessage(KEEPER_FD, JSON.stringify({ op: 'next' } satisfies ToKeeper));
    for (;;) {
      const received = receiveMessage(KEEPER_FD, { wait: true });
      if (received === null || received === 'end') throw new Error('the keeper is gone');
      const message = JSON.parse(received.text) as ToServer;
      if (message.op === 'all') return inherited;
      if (message.op === 'more') break;
      if (message.op !== 'held') continue;
      const { key, names, spoiled } = message;
      const descriptors = Object.fromEntries(
        names.flatMap((name, index) => {
          const fd = received.descriptors[index];
          return fd === undefined ? [] : [[name, fd] as const];
        }),
      );
      inherited.set(key, { descriptors, spoiled: spoiled || received.isTruncated });
    }
  }
}
