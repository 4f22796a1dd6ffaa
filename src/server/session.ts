import { randomUUID } from 'node:crypto';
import { DEFAULT_WINDOW_BYTES } from '../contract/index.js';
import {
  type LocalProcess,
  type LocalProcessSpec,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import { type ByteBudget, SHARE_BYTES } from '../rpc/index.js';
import { ExecError, type Sandbox } from '../protocol/index.js';
import { OutputPusher, type PushTarget } from './push/output-pusher.js';

/** Write ids remembered per process, so that a retry is recognised. A client has few writes in the air. */
const MAX_REMEMBERED_WRITES = 4096;

/** Input in line for programs that do not read, all of a session together: four of them at their limit. */
const MAX_WAITING_INPUT_BYTES = 64 * 1024 * 1024;

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
  readonly #windowBytes: number;
  readonly #pushers = new Map<string, OutputPusher>();
  readonly #writes = new Map<string, Set<string>>();
  readonly #starting = new Map<string, Promise<unknown>>();
  readonly #budget: ByteBudget;
  #waitingInputBytes = 0;
  #connection: SessionConnection | undefined;

  constructor(options: { acknowledged: boolean; table: ProcessTableOptions; budget: ByteBudget }) {
    this.acknowledged = options.acknowledged;
    this.#windowBytes = options.table.windowBytes ?? DEFAULT_WINDOW_BYTES;
    this.#budget = options.budget;
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

  /** Spawns at once; its events are pushed from the next turn of the event loop on, behind the answer to the start. */
  start(spec: LocalProcessSpec): LocalProcess {
    const process = this.processes.start(spec);
    this.#push(process, this.#pusherFor(process));
    return process;
  }

  /** As `start`, for a process in a sandbox: resolves when its program runs. If that fails, the id is free again. */
  async startConfined(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    const process = await this.processes.startConfined(spec, sandbox);
    // From here on the pusher holds what comes before anybody is told of the process.
    const pusher = this.#pusherFor(process);
    process.stopHolding();
    setImmediate(() => this.#push(process, pusher));
    return process;
  }

  /** Announces a start that takes a while. Until it is over, `startUnderWay` tells of it. */
  async announceStart<Result>(processId: string, start: () => Promise<Result>): Promise<Result> {
    const starting = start();
    this.#starting.set(processId, starting);
    try {
      return await starting;
    } finally {
      if (this.#starting.get(processId) === starting) this.#starting.delete(processId);
    }
  }

  /** The start under this id that is not over yet: rejects with its error if it fails. */
  startUnderWay(processId: string): Promise<unknown> | undefined {
    return this.#starting.get(processId);
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

  /** Refuses input for a program that does not read when others of the session hold up too much already. */
  requireInputRoom(bytes: number): void {
    const limit = this.#budget.tight ? SHARE_BYTES : MAX_WAITING_INPUT_BYTES;
    if (this.#waitingInputBytes + bytes <= limit) return;
    throw new ExecError(
      'stdinFull',
      'The processes of the session do not read their input and the queues are full.',
    );
  }

  /** Counts input that waits, until it does no more. */
  async inputWaits(bytes: number, over: Promise<void>): Promise<void> {
    this.#waitingInputBytes += bytes;
    try {
      await over;
    } finally {
      this.#waitingInputBytes -= bytes;
    }
  }

  async close(): Promise<void> {
    this.detach();
    for (const pusher of this.#pushers.values()) pusher.close();
    this.#pushers.clear();
    await this.processes.close();
  }

  #pusherFor(process: LocalProcess): OutputPusher {
    return new OutputPusher(process, { acknowledged: this.acknowledged, windowBytes: this.#windowBytes });
  }

  #push(process: LocalProcess, pusher: OutputPusher): void {
    if (this.processes.get(process.processId) !== process) {
      pusher.close();
      return;
    }
    this.#pushers.set(process.processId, pusher);
    if (this.#connection) pusher.begin(this.#connection);
    else pusher.detach();
  }

  /** Drops what belongs to a process the table no longer retains. */
  #forget(processId: string): void {
    this.#pushers.get(processId)?.close();
    this.#pushers.delete(processId);
    this.#writes.delete(processId);
  }
}
