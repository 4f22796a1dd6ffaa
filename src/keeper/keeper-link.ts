import {
  libc,
  linux,
  receiveMessage,
  sendMessage,
  spawnFailures,
  watchReadiness,
} from '../host/kernel/index.js';
import {
  continueTrees,
  inheritLineage,
  listenForExits,
  reapedElsewhere,
  spareSibling,
} from '../host/spawn/parent.js';
import { Bell } from './bell.js';
import {
  KEEPER_FD,
  KEEPER_VARIABLE,
  LEDGER_FD,
  type Predecessor,
  type ToKeeper,
  type ToServer,
} from './messages.js';
import type { KeeperFacts } from './server-process.js';

/** The delay before a message is sent again that the keeper had no room for. */
const RETRY_MS = 20;
const SIGKILL = 9;

/** The descriptors that earlier servers left with the keeper under one key. */
export interface Inherited {
  readonly descriptors: Readonly<Record<string, number>>;
  /** Unusable because something is missing. */
  readonly spoiled: boolean;
}

/** The facts passed by our keeper, if we have one. Our children must not think that they have one, too. */
export function takeKeeperFacts(env: NodeJS.ProcessEnv): KeeperFacts | null {
  const text = env[KEEPER_VARIABLE];
  delete env[KEEPER_VARIABLE];
  return text === undefined ? null : (JSON.parse(text) as KeeperFacts);
}

/** How the preparation of a successor ended. */
export type Preparation = { readonly generation: number } | { readonly reason: string };

/** A server's connection to its keeper. */
export class KeeperLink {
  readonly facts: KeeperFacts;
  #inherited: ReadonlyMap<string, Inherited> = new Map();
  /** Messages the keeper had no room for. */
  readonly #waiting: ToKeeper[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Null before we listen, and with a keeper that does without. */
  #bell: Bell | null = null;
  #prepared: ((preparation: Preparation) => void) | undefined;

  /** Call before anything is started. */
  constructor(facts: KeeperFacts) {
    this.facts = facts;
    // We must not outlive the keeper: without it, we could not keep our promises.
    libc().prctl(linux.PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    inheritLineage(facts, { ledger: LEDGER_FD });
  }

  get inherited(): ReadonlyMap<string, Inherited> {
    return this.#inherited;
  }

  /**
   * Receives everything the keeper holds. Call before anything is started. Waits until the previous server is gone.
   */
  inherit(): void {
    this.#inherited = receiveAll();
    if (this.facts.generation > 1) continueTrees(this.facts);
  }

  /** Starts receiving the exits that the keeper has seen. Call once all processes have been adopted. */
  listen(): void {
    listenForExits();
    if (this.facts.takesBell) this.#bell = Bell.create((fd) => this.#send({ op: 'bell' }, [fd]));
    watchReadiness(KEEPER_FD, 'read', () => this.#receive());
  }

  /** Throws `spawnFailed` if the keeper does not accept them. */
  hold(key: string, descriptors: Readonly<Record<string, number>>): void {
    const message = { op: 'hold', key, names: Object.keys(descriptors) } as const;
    if (this.#waiting.length > 0 || !this.#send(message, Object.values(descriptors)))
      throw spawnFailures.noRoom('EAGAIN');
  }

  /** Like `hold`, for use right before we leave: waits for room. False if the keeper cannot accept them. */
  pass(key: string, descriptors: Readonly<Record<string, number>>): boolean {
    this.#flush();
    const message = { op: 'hold', key, names: Object.keys(descriptors) } as const;
    return this.#send(message, Object.values(descriptors), { wait: true });
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

  /** Reports that this server is ready to replace the running one. */
  prepared(): void {
    this.#tell({ op: 'prepared' });
  }

  /** Reports that this server cannot replace the running one. */
  unfit(reason: string): void {
    this.#tell({ op: 'unfit', reason });
  }

  /** Starts a server to replace us. Resolves when it is ready, or has failed. */
  prepareSuccessor(argv: readonly string[], predecessor: Predecessor): Promise<Preparation> {
    return new Promise((resolve) => {
      this.#prepared = resolve;
      this.#tell({ op: 'succeed', argv, predecessor });
    });
  }

  /** Ends a successor that is no longer wanted. */
  dismissSuccessor(): void {
    this.#tell({ op: 'dismiss' });
  }

  /** Ends this process at once in favour of its successor. Nothing that was passed on may be used here any more. */
  leave(): void {
    this.#flush();
    this.#send({ op: 'leave' }, [], { wait: true });
    process.kill(process.pid, 'SIGKILL');
  }

  #receive(): void {
    for (;;) {
      const message = receiveMessage(KEEPER_FD);
      if (message === null) return;
      // The kernel kills us as well, but perhaps later.
      if (message === 'end') process.exit(1);
      this.#heard(JSON.parse(message.text) as ToServer);
    }
  }

  #heard(message: ToServer): void {
    if (message.op === 'ended') {
      reapedElsewhere(message.pid, message.status, message.usage);
      this.#tell({ op: 'recorded', pid: message.pid });
    } else if (message.op === 'sibling') spareSibling(message.pid);
    else if (message.op === 'prepared' || message.op === 'unfit') {
      this.#prepared?.(message);
      this.#prepared = undefined;
    }
  }

  /** Sends in order; later if the keeper has no room now. */
  #tell(message: ToKeeper): void {
    if (this.#waiting.length === 0 && this.#send(message)) return;
    this.#waiting.push(message);
    this.#timer ??= setInterval(() => this.#retry(), RETRY_MS);
  }

  /** Sends everything to the keeper, however long that takes. */
  #flush(): void {
    for (const message of this.#waiting.splice(0)) this.#send(message, [], { wait: true });
  }

  #retry(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!this.#send(next)) return;
      this.#waiting.shift();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(message: ToKeeper, descriptors: readonly number[] = [], { wait = false } = {}): boolean {
    // There is room again only once it has read.
    if (wait) this.#bell?.ring();
    const isSent = sendMessage(KEEPER_FD, JSON.stringify(message), descriptors, { wait });
    if (isSent && canWait(message)) this.#bell?.ringLater();
    else this.#bell?.ring();
    return isSent;
  }
}

/** Whether nobody notices if the keeper reads it a moment later. The end of a program's input must reach it at once. */
function canWait(message: ToKeeper): boolean {
  return message.op === 'hold' || (message.op === 'letGo' && message.name === undefined);
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
