const MIB = 1024 * 1024;

/** Captured output in memory, until it is in an answer. Beyond this, output goes to disk. */
const MEMORY_BYTES = { connection: 32 * MIB, server: 128 * MIB };
/** Captured output on disk: the default cap of both streams of every command of a connection, and twice that. */
const DISK_BYTES = { connection: 2048 * MIB, server: 4096 * MIB };

/** A number of bytes that may be in use, as part of a larger one. */
export class Allowance {
  readonly #limit: number;
  readonly #whole: Allowance | undefined;
  #used = 0;

  constructor(limit: number, whole?: Allowance) {
    this.#limit = limit;
    this.#whole = whole;
  }

  get used(): number {
    return this.#used;
  }

  /** Returns whether there was room for all of them. */
  acquire(bytes: number): boolean {
    if (this.#used + bytes > this.#limit || this.#whole?.acquire(bytes) === false) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#whole?.release(bytes);
  }
}

export interface CaptureLimits {
  readonly memory: number;
  readonly disk: number;
}

/** The room that all connections of a server share for captured output. */
export class ServerCapture {
  readonly memory: Allowance;
  readonly disk: Allowance;

  constructor(limits: CaptureLimits = { memory: MEMORY_BYTES.server, disk: DISK_BYTES.server }) {
    this.memory = new Allowance(limits.memory);
    this.disk = new Allowance(limits.disk);
  }
}

/** The room that the programs of one connection share for captured output. */
export class CapturedRoom {
  readonly memory: Allowance;
  readonly disk: Allowance;
  readonly #held = new Set<{ release(): void }>();
  #isClosed = false;

  constructor(server: ServerCapture = new ServerCapture()) {
    this.memory = new Allowance(MEMORY_BYTES.connection, server.memory);
    this.disk = new Allowance(DISK_BYTES.connection, server.disk);
  }

  /** `output` is released with the connection, unless it is dropped before. */
  hold(output: { release(): void }): void {
    if (this.#isClosed) output.release();
    else this.#held.add(output);
  }

  drop(output: { release(): void }): void {
    this.#held.delete(output);
  }

  /** Nobody is left to read what was captured. */
  close(): void {
    this.#isClosed = true;
    for (const output of [...this.#held]) output.release();
  }
}
