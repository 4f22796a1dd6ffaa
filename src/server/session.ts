import { randomUUID } from 'node:crypto';
import { DEFAULT_WINDOW_BYTES, QueuedInput, type ServerInput } from '../contract/index.js';
import {
  abandonStart,
  type ChangeSets,
  type LocalProcess,
  type LocalProcessSpec,
  type OwnedChanges,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import { type ByteBudget, SHARE_BYTES } from '../rpc/index.js';
import { ExecError, type Sandbox } from '../protocol/index.js';
import { ownerOf } from './changes-owner.js';
import type { DurableState } from './durable/durable-state.js';
import type { PushPosition } from './durable/records.js';
import type { KeptProcess } from './kept-process.js';
import type { ClientMessages } from './network/client-messages.js';
import type { OutputPusher, PushTarget } from './push/output-pusher.js';
import type { AttachOptions } from './session/kept-client.js';
import { KeptUses } from './session/kept-uses.js';
import { observeProcesses, type ServerObserver } from './server-events.js';
import { PendingStarts } from './session/pending-starts.js';
import { Pushers } from './session/pushers.js';
import { SessionStreams } from './ports/session-streams.js';
import { SessionChanges } from './session/session-changes.js';
import { RememberedWrites } from './session/remembered-writes.js';
import { type ShowProcess, ShownProcesses } from './session/shown-processes.js';

/** How much of the name by which a client introduces itself is shown to others. */
const MAX_CLIENT_NAME_CHARS = 128;

/** What a session needs of its connection. */
export interface SessionConnection extends PushTarget {
  /** Another client wants the session: this connection must prove that it is alive. */
  probe(): void;
  readonly messages: ClientMessages;
}

export interface SessionOptions {
  readonly acknowledged: boolean;
  readonly principal: string | undefined;
  readonly table: ProcessTableOptions;
  readonly budget: ByteBudget;
  readonly input: ServerInput;
  /** Where changes are held; absent if there is no such place. */
  readonly changes?: ChangeSets | null | undefined;
  readonly durable?: DurableState | undefined;
  readonly observe?: ServerObserver | undefined;
  /** Lets other sessions of the same client view a process of this one. */
  readonly show?: ShowProcess | undefined;
  /** Of a session that an earlier server opened. */
  readonly id?: string;
}

/** Owns processes and outlives its connection. */
export class Session {
  readonly id: string;
  readonly processes: ProcessTable;
  readonly openedAtMs = Date.now();
  /** The client acknowledges output: nothing unacknowledged is discarded, attached or not. */
  readonly acknowledged: boolean;
  readonly writes = new RememberedWrites();
  readonly starts = new PendingStarts();
  /** Connections to ports. */
  readonly streams = new SessionStreams();
  /** Kept processes this session uses. */
  readonly kept: KeptUses;
  readonly #shown: ShownProcesses;
  readonly #changes: SessionChanges | null | undefined;
  readonly #pushers: Pushers;
  readonly #budget: ByteBudget;
  readonly #input: QueuedInput;
  #connection: SessionConnection | undefined;
  #principal: string | undefined;
  #closed = false;
  #clientName = '';

  constructor(options: SessionOptions) {
    const { acknowledged, durable, table } = options;
    this.id = options.id ?? randomUUID();
    this.acknowledged = acknowledged;
    this.#principal = options.principal;
    this.#budget = options.budget;
    this.#input = new QueuedInput(options.input);
    this.#pushers = new Pushers({ acknowledged, windowBytes: table.windowBytes ?? DEFAULT_WINDOW_BYTES });
    const forget = (processId: string): void => this.#forget(processId);
    this.#shown = new ShownProcesses(options.show);
    const onForgotten = (processId: string): void => {
      this.#shown.hide(processId);
      forget(processId);
    };
    this.#changes =
      options.changes &&
      new SessionChanges(options.changes, { owner: () => ownerOf(this), target: () => this.#connection });
    const hooks = options.observe && observeProcesses(options.observe, this.id);
    this.processes = new ProcessTable({ ...table, ...hooks, changes: this.changes, onForgotten });
    this.kept = new KeptUses({
      sessionId: this.id,
      pushers: this.#pushers,
      durable,
      target: () => this.#connection,
      forget,
    });
  }

  /** What its programs have changed under policies that hold changes; undefined if nothing can be held here. */
  get changes(): OwnedChanges | undefined {
    return this.#changes?.owned;
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
    this.#shown.hideAll();
    this.kept.detachAll();
  }

  /** How its client introduced itself. */
  get clientName(): string {
    return this.#clientName;
  }

  introduce(clientName: string): void {
    this.#clientName = clientName.slice(0, MAX_CLIENT_NAME_CHARS);
  }

  /** A process of this session as other sessions of the same client use it; undefined if there is none. */
  show(processId: string): KeptProcess | undefined {
    const process = this.processes.get(processId);
    if (!process || this.#closed || this.#principal === undefined) return undefined;
    return this.#shown.show(process, this.#principal);
  }

  attach(connection: SessionConnection): void {
    this.#connection = connection;
    connection.account.count(() => this.#input.beyondShares);
    this.#pushers.attach(connection);
    this.streams.attach(connection);
  }

  /** Goes on with a connection of another server, which has come this far with each process. */
  continueWith(connection: SessionConnection, positions: Readonly<Record<string, PushPosition>>): void {
    this.#connection = connection;
    connection.account.count(() => this.#input.beyondShares);
    this.streams.attach(connection);
    this.#pushers.continueWith(connection, positions);
  }

  /** Whether another server could continue with everything its client uses. */
  get canBeLeft(): boolean {
    return this.kept.canBeLeft && this.streams.size === 0;
  }

  /** How far its client has got, by process. */
  positions(): Record<string, PushPosition> {
    return this.#pushers.positions();
  }

  detach(): void {
    this.#connection = undefined;
    this.#pushers.detach();
    this.streams.detach();
  }

  /** A process of this session, or a kept one it is attached to. To other sessions, the latter does not exist. */
  find(processId: string, asker: Session = this): LocalProcess | undefined {
    const own = this.processes.get(processId);
    return own ?? (asker === this ? this.kept.get(processId)?.kept.process : undefined);
  }

  /** Throws if another process is known here by the id of this one, which is then not started. */
  requireFree(spec: LocalProcessSpec): void {
    const { processId } = spec;
    if (processId === undefined || this.find(processId) === undefined) return;
    abandonStart(spec);
    throw idInUse(processId);
  }

  /** Spawns synchronously. Events are pushed from the next turn of the event loop on, after the answer to the start. */
  start(spec: LocalProcessSpec): LocalProcess {
    this.requireFree(spec);
    const process = this.processes.start(spec);
    this.#startPushing(process, this.#pushers.open(process));
    return process;
  }

  /**
   * Like `start`, for a sandboxed process. Resolves when its program is running; if that fails, the id is free again.
   */
  async startConfined(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    this.requireFree(spec);
    const process = await this.processes.startConfined(spec, sandbox);
    // From here on the pusher keeps the output until clients know about the process.
    const pusher = this.#pushers.open(process);
    process.stopHolding();
    setImmediate(() => this.#startPushing(process, pusher));
    return process;
  }

  /**
   * The unfinished start of this id, if any. Rejects with its error if it fails. Other sessions do not learn of one that
   * is going to be kept.
   */
  pendingStart(processId: string, asker: Session = this): Promise<unknown> | undefined {
    const starting = this.starts.get(processId);
    return starting?.isKept && asker !== this ? undefined : starting?.outcome;
  }

  /**
   * Uses a kept process from here on. If it did already, its output is pushed again from the new position. A session that
   * has ended since that was requested, or belongs to somebody else by now, does not use it.
   */
  attachKept(kept: KeptProcess, options: AttachOptions): void {
    const { process, owner } = kept;
    const { processId } = process;
    // Only the session that owns it decides about one that is shown.
    const stopHolding = (): void => (kept.lease === 'session' ? undefined : process.stopHolding());
    if (this.#closed || owner !== (options.share?.owner ?? this.#principal)) {
      stopHolding();
      return;
    }
    if (this.processes.get(processId)) throw idInUse(processId);
    this.#detachBefore(kept);
    this.#input.count(process);
    this.kept.attach(kept, options);
    stopHolding();
  }

  /** Continues with a process that an earlier server started for this session. What clients have not seen is on disk. */
  takeUp(spec: LocalProcessSpec): void {
    const process = this.processes.start(spec);
    this.#recallWrites(process);
    const afterSeq = process.log.nextSeq - 1;
    this.#startPushing(process, this.#pushers.open(process, { afterSeq }));
  }

  /** The same for its use of a kept process. */
  takeUpKept(kept: KeptProcess, options: AttachOptions): void {
    this.attachKept(kept, options);
    this.#recallWrites(kept.process);
  }

  /** What a write of this session is called where writes of other sessions are, too. */
  writeName(writeId: string): string {
    return `${this.id} ${writeId}`;
  }

  acknowledge(processId: string, seq: number): void {
    this.#pushers.acknowledge(processId, seq);
  }

  /** Call right before queueing input: rejects it if too much is held already for programs that do not read. */
  requireInputRoom(process: LocalProcess, bytes: number): void {
    this.#input.requireRoom(process, bytes, () => this.#freeForInput());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.detach();
    this.kept.detachAll();
    this.#shown.hideAll();
    this.#pushers.close();
    this.streams.close();
    await this.processes.close();
    await this.#changes?.close();
  }

  /** Ends an earlier use of this id. Writes to the same process may be repeated, because their answers were lost. */
  #detachBefore(kept: KeptProcess): void {
    const { processId } = kept.process;
    const detach = (): void => this.kept.detach(processId);
    if (this.kept.get(processId)?.kept === kept) this.writes.preserve(processId, detach);
    else detach();
  }

  #recallWrites({ processId, takenWrites }: LocalProcess): void {
    const mark = this.writeName('');
    for (const name of takenWrites)
      if (name.startsWith(mark)) this.writes.remember(processId, name.slice(mark.length));
  }

  #freeForInput(): number {
    const free = this.#connection?.account.free ?? 0;
    return this.#budget.tight ? Math.min(free, SHARE_BYTES - this.#input.beyondShares) : free;
  }

  #startPushing(process: LocalProcess, pusher: OutputPusher): void {
    if (this.processes.get(process.processId) === process) this.#pushers.begin(process.processId, pusher);
    else pusher.close();
  }

  /** Drops the state of a process that is no longer known here. */
  #forget(processId: string): void {
    this.#pushers.forget(processId);
    this.writes.forget(processId);
    this.#input.forget(processId);
  }
}

function idInUse(processId: string): ExecError {
  return new ExecError('processIdInUse', 'A process with this id exists already.', { data: { processId } });
}
