import {
  type ChangeSets,
  type LocalProcess,
  type LocalProcessSpec,
  OwnedChanges,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import type { Lease } from '../protocol/index.js';
import type { ScreenRenderer } from '../screen/index.js';
import { clientOf } from './changes-owner.js';
import { KeptProcess } from './kept-process.js';

/** How long a kept process can be read after its end. */
export const DEFAULT_KEEP_ENDED_MS = 60 * 60_000;

/** What the processes of all principals have in common. */
export interface KeptRoomOptions {
  readonly table: ProcessTableOptions;
  /** Where changes of kept processes are held. */
  readonly changes?: ChangeSets | null;
  readonly keepEndedMs?: number | undefined;
  readonly renderer: ScreenRenderer;
}

/** The lease of a process, as an earlier server recorded it if that started it. */
export interface TakenLease {
  readonly lease: Lease;
  readonly unusedSinceMs?: number | undefined;
}

/** A kept process always has an id. */
export type KeptSpec = LocalProcessSpec & { readonly processId: string };

/** The kept processes of one principal. */
export class KeptRoom {
  readonly table: ProcessTable;
  /** Ids of processes that are being started. */
  readonly starting = new Set<string>();
  readonly #principal: string;
  readonly #options: KeptRoomOptions;
  readonly #kept = new Map<string, KeptProcess>();

  /** `forgotten`: called when a process can no longer be read. */
  constructor(principal: string, options: KeptRoomOptions, forgotten: (kept: KeptProcess) => void) {
    const { table, changes, keepEndedMs = DEFAULT_KEEP_ENDED_MS } = options;
    this.#principal = principal;
    this.#options = options;
    this.table = new ProcessTable({
      ...table,
      // Their changes outlive the session, like the processes themselves.
      changes: changes
        ? new OwnedChanges(changes, () => ({
            client: clientOf(principal),
            share: principal,
          }))
        : undefined,
      maxProcesses: Number.POSITIVE_INFINITY,
      retainClosedMs: keepEndedMs,
      onForgotten: (processId) => {
        const kept = this.#kept.get(processId);
        this.#kept.delete(processId);
        if (kept) forgotten(kept);
      },
    });
  }

  get(processId: string): KeptProcess | undefined {
    return this.#kept.get(processId);
  }

  all(): KeptProcess[] {
    return [...this.#kept.values()];
  }

  /** Running, ended, and being started. */
  get size(): number {
    return this.#kept.size + this.starting.size;
  }

  /** Keeps a process of the table. */
  add(process: LocalProcess, { lease, unusedSinceMs }: TakenLease, expired: () => void): KeptProcess {
    const kept = new KeptProcess(process, {
      owner: this.#principal,
      lease,
      expired,
      renderer: this.#options.renderer,
      retainedBytes: this.#options.table.retainedBytes,
      unusedSinceMs,
    });
    this.#kept.set(process.processId, kept);
    return kept;
  }
}
