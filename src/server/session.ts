import { randomUUID } from 'node:crypto';
import { DEFAULT_WINDOW_BYTES, QueuedInput, type ServerInput, type TerminalSize } from '../contract/index.js';
import {
  abandonStart,
  type LocalProcess,
  type LocalProcessSpec,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import { type ByteBudget, SHARE_BYTES } from '../rpc/index.js';
import { ExecError, type ExecServerNotifications, type Sandbox } from '../protocol/index.js';
import type { DurableState } from './durable/durable-state.js';
import { requireMayType } from './keyboard.js';
import type { KeptClient, KeptProcess } from './kept-process.js';
import { Notices } from './push/notices.js';
import { OutputPusher, type PushTarget } from './push/output-pusher.js';
import type { Share } from './shares.js';

/** Write ids remembered per process to recognise retries. A client has only a few writes in flight. */
const MAX_REMEMBERED_WRITES = 4096;

/** What a session needs of its connection. */
export interface SessionConnection extends PushTarget {
  /** Another client wants the session: this connection must prove that it is alive. */
  probe(): void;
}

/** Where a session begins to use a kept process. */
export interface AttachOptions {
  readonly afterSeq: number;
  readonly mayPause: boolean;
  /** What it says about the keyboard. Absent: nothing, as clients that know of none. */
  readonly keyboard?: 'take' | 'ifFree' | 'none' | 'view' | undefined;
  /** It was given a screen, and gets another if it falls behind. */
  readonly hasScreen?: boolean;
  /** Its number among the clients of the process, from an earlier server. */
  readonly number?: number;
  /** Views the process of somebody else. */
  readonly share?: Share | undefined;
}

/** A start that takes a while. */
interface PendingStart {
  readonly outcome: Promise<unknown>;
  readonly isKept: boolean;
}

/** Owns processes and outlives its connection. */
export class Session {
  readonly id: string;
  readonly processes: ProcessTable;
  /** The client acknowledges output: nothing unacknowledged is discarded, attached or not. */
  readonly acknowledged: boolean;
  readonly #windowBytes: number;
  readonly #pushers = new Map<string, OutputPusher>();
  readonly #writes = new Map<string, Set<string>>();
  /** Kept processes this session uses. Others own them. */
  readonly #kept = new Map<string, { readonly kept: KeptProcess; readonly client: KeptClient }>();
  readonly #starting = new Map<string, PendingStart>();
  readonly #budget: ByteBudget;
  readonly #input: QueuedInput;
  readonly #durable: DurableState | undefined;
  #connection: SessionConnection | undefined;
  #closed = false;

  #principal: string | undefined;

  constructor(options: {
    acknowledged: boolean;
    principal: string | undefined;
    table: ProcessTableOptions;
    budget: ByteBudget;
    input: ServerInput;
    durable?: DurableState | undefined;
    /** Of a session that an earlier server opened. */
    id?: string;
  }) {
    this.id = options.id ?? randomUUID();
    this.#durable = options.durable;
    this.#principal = options.principal;
    this.acknowledged = options.acknowledged;
    this.#windowBytes = options.table.windowBytes ?? DEFAULT_WINDOW_BYTES;
    this.#budget = options.budget;
    this.#input = new QueuedInput(options.input);
    this.processes = new ProcessTable({ ...options.table, onForgotten: (id) => this.#forget(id) });
  }

  get connection(): SessionConnection | undefined {
    return this.#connection;
  }

  get principal(): string | undefined {
    return this.#principal;
  }

  /** Whoever resumes a session gets what is in it, except the kept processes of somebody else. */
  becomeOf(principal: string | undefined): void {
    if (principal === this.#principal) return;
    this.#principal = principal;
    for (const processId of [...this.#kept.keys()]) this.detachKept(processId);
  }

  attach(connection: SessionConnection): void {
    this.#connection = connection;
    connection.account.count(() => this.#input.beyondShares);
    for (const pusher of this.#pushers.values()) pusher.attach(connection);
  }

  detach(): void {
    this.#connection = undefined;
    for (const pusher of this.#pushers.values()) pusher.detach();
  }

  /** A process of this session, or a kept one it is attached to. To other sessions, the latter does not exist. */
  find(processId: string, asker: Session = this): LocalProcess | undefined {
    const own = this.processes.get(processId);
    return own ?? (asker === this ? this.#kept.get(processId)?.kept.process : undefined);
  }

  /** The kept processes this session is attached to. */
  kept(): KeptProcess[] {
    return [...this.#kept.values()].map(({ kept }) => kept);
  }

  /** Throws if another process is known here by the id of this one, which is then not started. */
  requireFree(spec: LocalProcessSpec): void {
    const { processId } = spec;
    if (processId === undefined || this.find(processId) === undefined) return;
    abandonStart(spec);
    throw idInUse(processId);
  }

  /**
   * Uses a kept process from here on. If it did already, its output is pushed again from the new position. A session that
   * has ended since that was requested, or belongs to somebody else by now, does not use it.
   */
  attachKept(kept: KeptProcess, options: AttachOptions): void {
    const { afterSeq, hasScreen = false, keyboard, share } = options;
    const { process } = kept;
    const { processId } = process;
    if (this.#closed || kept.owner !== (share?.owner ?? this.#principal)) {
      process.stopHolding();
      return;
    }
    if (this.processes.get(processId)) throw idInUse(processId);
    const isSame = this.#kept.get(processId)?.kept === kept;
    const writes = isSame ? this.#writes.get(processId) : undefined;
    this.detachKept(processId);
    // Writes may be repeated whose answers were lost.
    if (writes) this.#writes.set(processId, writes);
    this.#input.count(process);
    const pusher = this.#pusherFor(process, { afterSeq, paces: false, skipsWhenBehind: hasScreen });
    const client = this.#clientOf(kept, pusher, options);
    this.#kept.set(processId, { kept, client });
    this.#noteUse(kept, client, options);
    this.#pushers.set(processId, pusher);
    kept.attach(client);
    if (keyboard === 'take') kept.keyboard.take(client);
    else if (keyboard === 'ifFree' && kept.keyboard.isFree) kept.keyboard.take(client);
    process.stopHolding();
    // The answer goes first: it says where the numbers begin.
    setImmediate(() => {
      if (this.#pushers.get(processId) === pusher) this.#begin(pusher);
    });
  }

  /** Continues with a process that an earlier server started for this session. What clients have not seen is on disk. */
  takeUp(spec: LocalProcessSpec): void {
    const process = this.processes.start(spec);
    this.#recallWrites(process);
    const afterSeq = process.log.nextSeq - 1;
    this.#startPushing(process, this.#pusherFor(process, { afterSeq }));
  }

  /** The same for its use of a kept process. */
  takeUpKept(kept: KeptProcess, options: AttachOptions): void {
    this.attachKept(kept, options);
    this.#recallWrites(kept.process);
  }

  #recallWrites({ processId, takenWrites }: LocalProcess): void {
    const mark = this.writeName('');
    for (const name of takenWrites)
      if (name.startsWith(mark)) this.rememberWrite(processId, name.slice(mark.length));
  }

  /** What a write of this session is called where writes of other sessions are, too. */
  writeName(writeId: string): string {
    return `${this.id} ${writeId}`;
  }

  /** How this session uses a kept process; undefined if it does not. */
  usageOf(processId: string): { readonly kept: KeptProcess; readonly client: KeptClient } | undefined {
    return this.#kept.get(processId);
  }

  /** Throws unless this session may type to the process. To its own, it always may. */
  requireKeyboard(processId: string): void {
    const usage = this.#kept.get(processId);
    usage?.kept.keyboard.require(usage.client);
  }

  /** Throws if this session only views the process. */
  requireControl(processId: string): void {
    const usage = this.#kept.get(processId);
    if (usage) requireMayType(usage.client);
  }

  /** No longer uses a kept process, which goes on. */
  detachKept(processId: string): void {
    const attached = this.#letGo(processId);
    attached?.kept.letGo(attached.client);
  }

  /** Spawns synchronously. Events are pushed from the next turn of the event loop on, after the answer to the start. */
  start(spec: LocalProcessSpec): LocalProcess {
    this.requireFree(spec);
    const process = this.processes.start(spec);
    this.#startPushing(process, this.#pusherFor(process));
    return process;
  }

  /**
   * Like `start`, for a sandboxed process. Resolves when its program is running; if that fails, the id is free again.
   */
  async startConfined(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    this.requireFree(spec);
    const process = await this.processes.startConfined(spec, sandbox);
    // From here on the pusher keeps the output until clients know about the process.
    const pusher = this.#pusherFor(process);
    process.stopHolding();
    setImmediate(() => this.#startPushing(process, pusher));
    return process;
  }

  /** Runs a start that takes a while. Until it settles, `pendingStart` returns it. */
  async trackStart<Result>(
    { processId, isKept }: { processId: string; isKept: boolean },
    start: () => Promise<Result>,
  ): Promise<Result> {
    const outcome = start();
    const starting = { outcome, isKept };
    this.#starting.set(processId, starting);
    try {
      return await outcome;
    } finally {
      if (this.#starting.get(processId) === starting) this.#starting.delete(processId);
    }
  }

  /**
   * The unfinished start of this id, if any. Rejects with its error if it fails. Other sessions do not learn of one that
   * is going to be kept.
   */
  pendingStart(processId: string, asker: Session = this): Promise<unknown> | undefined {
    const starting = this.#starting.get(processId);
    return starting?.isKept && asker !== this ? undefined : starting?.outcome;
  }

  acknowledge(processId: string, seq: number): void {
    this.#pushers.get(processId)?.acknowledge(seq);
  }

  /** Whether this write id has not been seen for the process yet. */
  isNewWrite(processId: string, writeId: string): boolean {
    return this.#writes.get(processId)?.has(writeId) !== true;
  }

  rememberWrite(processId: string, writeId: string): void {
    const seen = this.#writes.get(processId) ?? new Set();
    this.#writes.set(processId, seen.add(writeId));
    if (seen.size <= MAX_REMEMBERED_WRITES) return;
    for (const oldest of seen) {
      seen.delete(oldest);
      break;
    }
  }

  /** Call right before queueing input: rejects it if too much is held already for programs that do not read. */
  requireInputRoom(process: LocalProcess, bytes: number): void {
    this.#input.requireRoom(process, bytes, () => this.#freeForInput());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.detach();
    for (const processId of [...this.#kept.keys()]) this.detachKept(processId);
    for (const pusher of this.#pushers.values()) pusher.close();
    this.#pushers.clear();
    await this.processes.close();
  }

  #clientOf(kept: KeptProcess, pusher: OutputPusher, options: AttachOptions): KeptClient {
    const { mayPause, keyboard, hasScreen, number } = options;
    const { processId } = kept.process;
    const notices = new Notices((message) => this.#connection?.send(message));
    const tell = (method: keyof ExecServerNotifications, params: object): void => {
      notices.add(method, { processId, ...params });
      this.#connection?.queue.schedule(notices);
    };
    const client: KeptClient = {
      number: number ?? kept.nextNumber(),
      access: accessOf(keyboard),
      // A viewer delays nobody.
      mayPause: mayPause && keyboard !== 'view' && keyboard !== 'none',
      isConnected: () => this.#connection !== undefined,
      keyboardAsked: (by) => {
        if (client.access === 'explicit') tell('process/keyboardAsked', { by });
      },
      keyboardChanged: (holds) => {
        this.#noteUse(kept, client, options);
        if (client.access === 'explicit') tell('process/keyboardChanged', { holds });
      },
      resized: (size: TerminalSize, afterSeq) => {
        if (hasScreen) tell('process/resized', { size, afterSeq });
      },
      pace: (paces) => pusher.pace(paces),
      forgotten: () => this.#letGo(processId),
    };
    return client;
  }

  /** For the server that comes after us. */
  #noteUse(kept: KeptProcess, client: KeptClient, options: AttachOptions): void {
    const { processId } = kept.process;
    if (!this.#durable || options.share || this.#kept.get(processId)?.client !== client) return;
    const { mayPause, keyboard = null, hasScreen = false } = options;
    this.#durable.noteUse({
      session: this.id,
      processId,
      owner: kept.owner,
      number: client.number,
      mayPause,
      keyboard: client.access === 'explicit' ? (keyboard ?? 'none') : keyboard,
      hasScreen,
      holds: kept.keyboard.isHeldBy(client),
    });
  }

  #freeForInput(): number {
    const free = this.#connection?.account.free ?? 0;
    return this.#budget.tight ? Math.min(free, SHARE_BYTES - this.#input.beyondShares) : free;
  }

  #pusherFor(
    process: LocalProcess,
    from: { afterSeq?: number; paces?: boolean; skipsWhenBehind?: boolean } = {},
  ): OutputPusher {
    const { acknowledged } = this;
    return new OutputPusher(process, { acknowledged, windowBytes: this.#windowBytes, ...from });
  }

  #startPushing(process: LocalProcess, pusher: OutputPusher): void {
    if (this.processes.get(process.processId) !== process) {
      pusher.close();
      return;
    }
    this.#pushers.set(process.processId, pusher);
    this.#begin(pusher);
  }

  #begin(pusher: OutputPusher): void {
    if (this.#connection) pusher.begin(this.#connection);
    else pusher.detach();
  }

  #letGo(processId: string): { kept: KeptProcess; client: KeptClient } | undefined {
    const attached = this.#kept.get(processId);
    if (!attached) return undefined;
    this.#kept.delete(processId);
    this.#durable?.forgetUse({ session: this.id, processId });
    this.#forget(processId);
    return attached;
  }

  /** Drops the state of a process the table no longer retains. */
  #forget(processId: string): void {
    this.#pushers.get(processId)?.close();
    this.#pushers.delete(processId);
    this.#writes.delete(processId);
    this.#input.forget(processId);
  }
}

function accessOf(keyboard: AttachOptions['keyboard']): KeptClient['access'] {
  if (keyboard === undefined) return 'implicit';
  return keyboard === 'view' ? 'view' : 'explicit';
}

function idInUse(processId: string): ExecError {
  return new ExecError('processIdInUse', 'A process with this id exists already.', { data: { processId } });
}
