import { randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import type { TerminalSize } from '../contract/index.js';
import { DurableOutput, type DurableOutputOptions } from './durable-output.js';
import { finishedOutputs } from './finished-output.js';
import { requirePrivateDirectory } from './private-directory.js';
import { type ProcessFacts, readFacts, type StoredEnd, thisServer } from './process-facts.js';
import { type SpoolOwner, SpoolQuota } from './quota.js';
import type { ReserveSpace } from './reserved-space.js';
import { SpooledOutput } from './spooled-output.js';
import { StoredLog } from './stored-log.js';
import { storedSegments } from './stored-segments.js';
import { type Kept, Upkeep } from './upkeep.js';

const MIB = 1024 * 1024;
/** The most kept per process. */
export const DEFAULT_PROCESS_BYTES = 256 * MIB;
/** The most kept of all processes together. */
export const DEFAULT_TOTAL_BYTES = 4096 * MIB;
/** The most processes kept, however little they printed. */
const MAX_STORED = 4096;
/**
 * Kept of a process whose output is on disk only for the next server. At least three quarters of it are there at any time: more
 * than a distant client may have to read again after the line broke. A flood then reuses the same pages of memory. In a virtual machine whose host supplies memory on demand, new pages would cost far
 * more than the output.
 */
const PASSING_BYTES = 40 * MIB;

export interface SpoolOptions {
  /** An absolute path. Created when first needed. */
  readonly directory: string;
  readonly processBytes?: number | undefined;
  readonly totalBytes?: number | undefined;
  /** Called when the output of a process can no longer be written. Default: does nothing. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** A process whose output is to be spooled. */
export interface SpoolRequest {
  readonly processId: string;
  /** The owner of the process, the only one who can find it again. */
  readonly owner: string;
  readonly program: string;
  readonly size: TerminalSize | null;
  /** Whether its output stays after the process is forgotten. */
  readonly keep: boolean;
}

/** A process whose output may outlive its server. */
export interface DurableRequest extends SpoolRequest {
  /** Identifies the output within the spool. */
  readonly id: string;
  /** Whether slow readers are served from disk. */
  readonly spills: boolean;
  readonly startedAtMs: number;
  /** The process that owns the output even if this server dies. */
  readonly server: ProcessFacts['server'];
  /** Called once when output can no longer be written. */
  readonly failed: () => void;
  /** Called with the end of the process, and again when it has closed, before any client learns of it. */
  readonly ended: (end: StoredEnd, offset: number) => void;
}

/** Options common to all kinds of output. */
type Place = Omit<DurableOutputOptions, 'busy' | 'closed' | 'gone' | 'ended'> & {
  readonly busy: (output: Kept) => void;
  readonly closed: (output: Kept) => void;
  readonly gone: (output: Kept) => void;
};

/** A process on disk. */
interface Stored extends SpoolOwner {
  readonly facts: ProcessFacts;
}

/** Output on disk: one directory per process, bounded in total. */
export class Spool {
  readonly directory: string;
  readonly processBytes: number;
  readonly totalBytes: number;
  readonly #quota: SpoolQuota;
  readonly #onFailure: (error: Error) => void;
  readonly #reserve: ReserveSpace | undefined;
  readonly #server = thisServer();
  readonly #upkeep = new Upkeep();
  /** By id, in the order they were added. */
  readonly #stored = new Map<string, Stored>();
  /** The prefix of all ids of this spool, so that a start need not wait for randomness. */
  readonly #mark = randomBytes(10).toString('hex');
  #created = 0;
  #isPrepared = false;
  #scanning: Promise<void> | undefined;

  /** `reserve`: reserves disk space ahead of a flood, if the system can. */
  constructor(options: SpoolOptions, reserve?: ReserveSpace) {
    this.#reserve = reserve;
    this.directory = resolve(options.directory);
    this.processBytes = options.processBytes ?? DEFAULT_PROCESS_BYTES;
    this.totalBytes = options.totalBytes ?? DEFAULT_TOTAL_BYTES;
    this.#quota = new SpoolQuota(this.totalBytes);
    this.#onFailure = options.onFailure ?? (() => undefined);
  }

  /** Makes sure that the directory can be used. Throws `spoolUnavailable` otherwise. */
  prepare(): void {
    this.#isPrepared = false;
    requirePrivateDirectory(this.directory);
    this.#isPrepared = true;
    void this.#scan();
  }

  /** The same, but checks only the first time and after a failed write, so that starts do not wait for it. */
  prepareOnce(): void {
    if (!this.#isPrepared) this.prepare();
  }

  /**
   * Creates the directory before a sandboxed program that runs as our user could: only an existing directory can be hidden
   * from it.
   */
  prepareIfPossible(): void {
    try {
      this.prepare();
    } catch {
      // Reported when it is used.
    }
  }

  /** Storage for the output of a new process. Nothing is written until there is enough of it. */
  create(request: SpoolRequest): SpooledOutput {
    this.prepareOnce();
    this.#created += 1;
    const id = `${this.#mark}-${this.#created}`;
    const output = new SpooledOutput(this.#place(id, request));
    this.#remember(output);
    return output;
  }

  /** Storage for the output of a process that may outlive its server. */
  createDurable(request: DurableRequest): DurableOutput {
    this.prepareOnce();
    return this.#durable(request);
  }

  /** The storage that an earlier server created. */
  resumeDurable(request: DurableRequest): DurableOutput {
    return this.#durable(request);
  }

  #durable(request: DurableRequest): DurableOutput {
    const { id, failed, ended, server, startedAtMs } = request;
    const place = this.#place(id, request);
    const limitBytes =
      request.keep || request.spills ? place.limitBytes : Math.min(place.limitBytes, PASSING_BYTES);
    const output = new DurableOutput({
      ...place,
      limitBytes,
      facts: { ...place.facts, server, startedAtMs },
      ended,
      failed: (error) => {
        failed();
        place.failed(error);
      },
    });
    this.#remember(output);
    return output;
  }

  #place(id: string, { processId, owner, program, size, keep }: SpoolRequest): Place {
    return {
      directory: join(this.directory, id),
      facts: {
        version: 1,
        id,
        processId,
        owner,
        program: basename(program),
        tty: size !== null,
        size,
        startedAtMs: Date.now(),
        server: this.#server,
        end: null,
      },
      limitBytes: Math.min(this.processBytes, this.totalBytes),
      quota: this.#quota,
      reserve: this.#reserve,
      keep,
      prepare: () => this.prepare(),
      busy: (each) => this.#upkeep.watch(each),
      closed: (each) => this.#upkeep.finish(each),
      failed: (error) => this.#failed(error),
      gone: (each) => {
        this.#stored.delete(id);
        this.#upkeep.forget(each);
      },
    };
  }

  /** All stored processes, oldest first. Without `end`, a process is running or was lost with its server. */
  async list(): Promise<ProcessFacts[]> {
    await this.#scan();
    return [...this.#stored.values()].map(({ facts }) => facts).sort((a, b) => a.startedAtMs - b.startedAtMs);
  }

  /** The log of a process by its id in the spool. The caller closes it. */
  open(id: string): StoredLog | null {
    const known = this.#stored.get(id);
    if (known instanceof SpooledOutput) known.flush();
    const directory = join(this.directory, basename(id));
    const facts = readFacts(directory);
    try {
      return facts?.id === id ? new StoredLog(directory, facts, storedSegments(directory)) : null;
    } catch {
      return null;
    }
  }

  /** The log of the owner's newest process with this id. The caller closes it. */
  async find({ owner, processId }: { owner: string; processId: string }): Promise<StoredLog | null> {
    const all = await this.list();
    const newest = all.findLast((facts) => facts.owner === owner && facts.processId === processId);
    return newest ? this.open(newest.id) : null;
  }

  /** Writes pending output and closes all files. */
  close(): void {
    this.#upkeep.close();
  }

  #failed(error: Error): void {
    this.#isPrepared = false;
    this.#onFailure(error);
  }

  #remember(stored: Stored): void {
    this.#stored.set(stored.facts.id, stored);
    if (this.#stored.size <= MAX_STORED) return;
    for (const each of this.#stored.values()) {
      if (each.expendableSince() === null) continue;
      this.#quota.release(each);
      each.dropSpool();
      return;
    }
  }

  /** Counts what earlier servers left, so that it can make room for new output. */
  #scan(): Promise<void> {
    this.#scanning ??= this.#findStored();
    return this.#scanning;
  }

  async #findStored(): Promise<void> {
    const dropped = (id: string): void => void this.#stored.delete(id);
    for await (const stored of finishedOutputs(this.directory, dropped)) {
      if (this.#stored.has(stored.facts.id)) continue;
      if (this.#quota.grow(stored, stored.measure())) this.#remember(stored);
      else stored.dropSpool();
    }
  }
}
