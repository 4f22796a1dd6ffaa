import { randomUUID } from 'node:crypto';
import {
  type LocalProcess,
  type LocalProcessSpec,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import { OutputPusher, type PushTarget } from './output-pusher.js';

/** Write ids remembered per process, so that a retry is recognised. A client has few writes in the air. */
const MAX_REMEMBERED_WRITES = 4096;

/** What is told to a connection when its session is taken from it. */
export interface SessionConnection extends PushTarget {
  /** Somebody else asks for the session: this connection has to show that it is alive. */
  probe(): void;
}

/** Owns processes. Outlives the connection it is attached to. */
export class Session {
  readonly id = randomUUID();
  readonly processes: ProcessTable;
  /** The client acknowledges output: nothing it has not seen is let go, attached or not. */
  readonly acknowledged: boolean;
  readonly #pushers = new Map<string, OutputPusher>();
  readonly #writes = new Map<string, Set<string>>();
  #connection: SessionConnection | undefined;

  constructor(options: { acknowledged: boolean; table: ProcessTableOptions }) {
    this.acknowledged = options.acknowledged;
    this.processes = new ProcessTable({ ...options.table, onForgotten: (id) => this.#forget(id) });
  }

  get connection(): SessionConnection | undefined {
    return this.#connection;
  }

  attach(connection: SessionConnection): void {
    this.#connection = connection;
    for (const pusher of this.#pushers.values()) pusher.attach(connection);
  }

  detach(): void {
    this.#connection = undefined;
    for (const pusher of this.#pushers.values()) pusher.detach();
  }

  start(spec: LocalProcessSpec): LocalProcess {
    const process = this.processes.start(spec);
    const pusher = new OutputPusher(process, { acknowledged: this.acknowledged });
    this.#pushers.set(process.processId, pusher);
    if (this.#connection) pusher.attach(this.#connection);
    return process;
  }

  acknowledge(processId: string, seq: number): void {
    this.#pushers.get(processId)?.acknowledge(seq);
  }

  /** True the first time a write id is seen for a process. */
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

  async close(): Promise<void> {
    this.detach();
    for (const pusher of this.#pushers.values()) pusher.close();
    this.#pushers.clear();
    await this.processes.close();
  }

  /** Drops what belongs to a process the table no longer retains. */
  #forget(processId: string): void {
    this.#pushers.get(processId)?.close();
    this.#pushers.delete(processId);
    this.#writes.delete(processId);
  }
}
