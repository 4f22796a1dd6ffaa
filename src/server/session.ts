import { randomUUID } from 'node:crypto';
import { DEFAULT_WINDOW_BYTES } from '../contract/index.js';
import {
  abandonStart,
  type LocalProcess,
  type LocalProcessSpec,
  type OwnedChanges,
  processIdInUse,
  ProcessTable,
} from '../host/index.js';
import type { Sandbox } from '../protocol/index.js';
import { ownerOf } from './changes-owner.js';
import type { PushPosition } from './durable/records.js';
import type { KeptProcess } from './kept-process.js';
import type { OutputPusher } from './push/output-pusher.js';
import type { AttachOptions } from './session/kept-client.js';
import { KeptUses } from './session/kept-uses.js';
import { observeProcesses } from './server-events.js';
import { PendingStarts } from './session/pending-starts.js';
import { Pushers } from './session/pushers.js';
import { SessionStreams } from './ports/session-streams.js';
import { SessionChanges } from './session/session-changes.js';
import { RememberedWrites } from './session/remembered-writes.js';
import { SessionInput } from './session/session-input.js';
import type { SessionConnection, SessionOptions } from './session/session-options.js';
import { ShownProcesses } from './session/shown-processes.js';

/** How much of the name by which a client introduces itself is shown to others. */
const MAX_CLIENT_NAME_CHARS = 128;

/** Owns processes and outlives its connection. */
export class Session {
  readonly id: string;
  readonly processes: ProcessTable;
  /** On the clock of this process, which nobody sets. */
  readonly openedAt = performance.now();
  /** The client acknowledges output: nothing unacknowledged is discarded, attached or not. */
  readonly acknowledged: boolean;
  readonly writes: RememberedWrites;
  readonly starts = new PendingStarts();
  /** Connections to ports. */
  readonly streams = new SessionStreams();
  /** Kept processes this session uses. */
  readonly kept: KeptUses;
  readonly #shown: ShownProcesses;
  readonly #changes: SessionChanges | null | undefined;
  readonly #pushers: Pushers;
  /** What its programs have not read. */
  readonly input: SessionInput;
  #connection: SessionConnection | undefined;
  #principal: string | undefined;
  #closed = false;
  #clientName = '';

  constructor(options: SessionOptions) {
    const { acknowledged, durable, table } = options;
    this.id = options.id ?? randomUUID();
    this.acknowledged = acknowledged;
    this.#principal = options.principal;
    this.input = new SessionInput(options);
    this.writes = new RememberedWrites(this.id);
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

  /** A client that resumes a session gets everything in it, except the kept processes of other clients. */
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
    this.input.attach(connection.account);
    this.#pushers.attach(connection);
    this.streams.attach(connection);
  }

  /** Continues on a connection from another server, which had sent this much of each process. */
  continueWith(connection: SessionConnection, positions: Readonly<Record<string, PushPosition>>): void {
    this.#connection = connection;
    this.input.attach(connection.account);
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
    this.input.detach();
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
    throw processIdInUse(processId);
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
   * Uses a kept process from here on. If it did already, its output is pushed again from the new position. A session that has
   * ended since that was requested, or now belongs to another client, does not use it.
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
    if (this.processes.get(processId)) throw processIdInUse(processId);
    this.#detachBefore(kept);
    this.input.count(process);
    this.kept.attach(kept, options);
    stopHolding();
  }

  /** Continues with a process that an earlier server started for this session. What clients have not seen is on disk. */
  adopt(spec: LocalProcessSpec): void {
    const process = this.processes.start(spec);
    this.writes.recall(process);
    const afterSeq = process.log.nextSeq - 1;
    this.#startPushing(process, this.#pushers.open(process, { afterSeq }));
  }

  /** The same for its use of a kept process. */
  adoptKept(kept: KeptProcess, options: AttachOptions): void {
    this.attachKept(kept, options);
    this.writes.recall(kept.process);
  }

  acknowledge(processId: string, seq: number): void {
    this.#pushers.acknowledge(processId, seq);
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

  #startPushing(process: LocalProcess, pusher: OutputPusher): void {
    if (this.processes.get(process.processId) === process) this.#pushers.begin(process.processId, pusher);
    else pusher.close();
  }

  /** Drops the state of a process that is no longer known here. */
  #forget(processId: string): void {
    this.#pushers.forget(processId);
    this.writes.forget(processId);
    this.input.forget(processId);
  }
}
