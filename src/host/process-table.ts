import { closeSync } from 'node:fs';
import { ExecError } from '../protocol/errors.js';
import type { NetworkDenial, Sandbox } from '../protocol/index.js';
import { after } from '../protocol/max-timer.js';
import type { OwnedChanges } from './changes/index.js';
import { ConfinedStarts } from './confined-starts.js';
import { LocalProcess } from './local-process.js';
import type { LocalProcessOptions, LocalProcessSpec } from './local-process-spec.js';
import { onceClosed } from './once-closed.js';
import { type ConfinedSpec, SandboxedLaunch } from './sandbox/index.js';
import { ShellSnapshots } from './shell-snapshot/index.js';
import { type Child, type ChildSink, killTrees } from './spawn/index.js';
import { spawnScripted } from './spawn-scripted.js';
import { type ProfileRequest, withoutProfile } from './without-profile.js';

/** How long a closed process can still be read; the same as Codex. */
const RETAIN_CLOSED_MS = 30_000;
/** The longest a closed process is kept for a reader that has not acknowledged everything. */
const RETAIN_UNREAD_MS = 10 * 60_000;

/** Processes one owner may have at a time. Closed ones that are merely retained give way. */
export const DEFAULT_MAX_PROCESSES = 4096;

export interface ProcessTableOptions extends LocalProcessOptions {
  readonly maxProcesses?: number | undefined;
  /** How long a closed process can still be read. Default 30 s. */
  readonly retainClosedMs?: number | undefined;
  /** Called when a program was started. Those an earlier server started were reported by that server. */
  readonly onStarted?: ((process: LocalProcess) => void) | undefined;
  /** Where changes are held that policies ask for. Absent: such starts are refused. */
  readonly changes?: OwnedChanges | undefined;
  /** Called when an id is free again: anything else kept under it can go. */
  readonly onForgotten?: ((processId: string) => void) | undefined;
  /** Called when the rules keep a process from a host: once for each, and for at most 16. */
  readonly onNetworkDenied?: ((processId: string, denial: NetworkDenial) => void) | undefined;
}

/** A closed process whose id another may take. Call exactly one of these. */
export interface SetAside {
  forget(): void;
  /** The id has stayed free. */
  restore(): void;
}

/** Releases what a start that does not happen would have used. */
export function abandonStart({ confined, script }: LocalProcessSpec): void {
  confined?.discard();
  if (script !== undefined) closeSync(script);
}

/** The processes of one owner, by id. When the owner goes, so do they and everything they started. */
export class ProcessTable {
  readonly #options: ProcessTableOptions;
  readonly #processes = new Map<string, LocalProcess>();
  /** Functions that stop the expiry of closed processes, in the order they closed. */
  readonly #expiries = new Map<string, () => void>();
  /**
   * All trees that may still have members, including those of processes long closed, and the ids of their processes. Empty
   * ones are dropped in bulk.
   */
  readonly #trees = new Map<number, string | null>();
  readonly #confined: ConfinedStarts;
  readonly #snapshots = new ShellSnapshots();
  #closed = false;

  constructor(options: ProcessTableOptions = {}) {
    this.#options = options;
    this.#confined = new ConfinedStarts({
      changes: options.changes,
      onNetworkDenied: options.onNetworkDenied,
      start: (spec) => this.start(spec),
    });
  }

  get(processId: string): LocalProcess | undefined {
    return this.#processes.get(processId);
  }

  /** How many trees may still have members. */
  get treeCount(): number {
    return this.#trees.size;
  }

  /** Whose tree this is: the id of a process that may be closed or forgotten; undefined if it is not one of ours. */
  ownerOf(treeId: number): string | null | undefined {
    return this.#trees.get(treeId);
  }

  all(): LocalProcess[] {
    return [...this.#processes.values()];
  }

  /**
   * The same command with the state its login shell has after the profile, if that is known or can be determined;
   * otherwise unchanged. The first of a kind runs the profile once, under the same policy. The caller must start the
   * result or close its `script`.
   */
  async withoutProfile(spec: LocalProcessSpec, request: ProfileRequest): Promise<LocalProcessSpec> {
    return await withoutProfile(spec, request, {
      snapshots: this.#snapshots,
      spawn: (...profile) => this.#spawnUnlisted(...profile),
    });
  }

  /** Has no id in the table, but its tree ends with all others here. */
  async #spawnUnlisted(spec: ConfinedSpec, sandbox: Sandbox | null, sink: ChildSink): Promise<Child> {
    const confined = sandbox ? this.#confined.add(await SandboxedLaunch.prepare(spec, sandbox)) : null;
    const child = confined?.spawn(sink) ?? spawnScripted({ ...spec, keeping: undefined }, sink);
    this.#trees.set(child.treeId, null);
    if (this.#closed) await child.killTree();
    return child;
  }

  /** Spawns immediately. A failed start leaves the id free. */
  start(spec: LocalProcessSpec): LocalProcess {
    try {
      this.#admit(spec.processId);
    } catch (error) {
      abandonStart(spec);
      throw error;
    }
    const adopted = spec.taken && this.#confined.adopt(spec, spec.taken);
    const process = new LocalProcess(adopted?.spec ?? spec, this.#options);
    adopted?.begun(process);
    this.#processes.set(process.processId, process);
    this.#remember(process);
    process.onDisposed = () => this.forget(process);
    onceClosed(process.log, () => this.#expire(process));
    if (!spec.taken) this.#options.onStarted?.(process);
    return process;
  }

  /**
   * Starts a program under a policy. Resolves when the program itself is running, with its output held from the first
   * byte on. If its sandbox cannot be set up, nothing is left of it and the id is free again.
   */
  async startConfined(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    return await this.#confined.start(spec, sandbox);
  }

  /** A tree whose process is forgotten ends with the others here. Call when it has turned out to be empty. */
  addTree(treeId: number): () => void {
    this.#trees.set(treeId, null);
    return () => void this.#trees.delete(treeId);
  }

  /** Must not refer to the process, since this is kept longer. */
  #remember(process: LocalProcess): void {
    const { treeId, processId } = process;
    const trees = this.#trees;
    trees.set(treeId, processId);
    process.onTreeGone = () => void trees.delete(treeId);
  }

  #admit(processId: string | undefined): void {
    if (this.#closed) throw new ExecError('sessionNotFound', 'The session has ended.');
    if (processId !== undefined && this.#processes.has(processId)) {
      throw processIdInUse(processId);
    }
    const limit = this.#options.maxProcesses ?? DEFAULT_MAX_PROCESSES;
    if (this.#processes.size >= limit && !this.#makeRoom()) {
      throw new ExecError('tooManyProcesses', 'The session has reached its limit of processes.');
    }
  }

  /** Forgets the process that closed first, unless someone has yet to learn how it ended. */
  #makeRoom(): boolean {
    for (const processId of this.#expiries.keys()) {
      const process = this.#processes.get(processId);
      if (process === undefined || process.log.held) continue;
      this.forget(process);
      return true;
    }
    return false;
  }

  /** Ends everything started here that is still running. Afterwards nothing is left of its sandboxes, either. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stop of this.#expiries.values()) stop();
    this.#expiries.clear();
    const running = this.all().filter((process) => !process.log.closed);
    await Promise.all([
      ...running.map((process) => process.kill()),
      killTrees(this.#trees.keys()),
      this.#confined.closeSpares(),
    ]);
    await this.#confined.close();
    for (const process of this.all()) process.forgotten();
    this.#processes.clear();
    this.#trees.clear();
  }

  /** It will not be read again: neither its output nor its table entry is needed. */
  forget(process: LocalProcess): void {
    const { processId } = process;
    if (this.#processes.get(processId) !== process) return;
    this.#expiries.get(processId)?.();
    this.#expiries.delete(processId);
    this.#processes.delete(processId);
    process.forgotten();
    this.#options.onForgotten?.(processId);
  }

  /** Frees the id of a closed process, so that another can try to take it. */
  setAside(process: LocalProcess): SetAside {
    const { processId } = process;
    this.#expiries.get(processId)?.();
    this.#expiries.delete(processId);
    this.#processes.delete(processId);
    return {
      forget: () => process.forgotten(),
      restore: () => {
        if (this.#closed) {
          process.forgotten();
          return;
        }
        this.#processes.set(processId, process);
        this.#expire(process);
      },
    };
  }

  /** Output a reader has not acknowledged is kept longer: the reader may be far away, or reconnecting. */
  #expire(process: LocalProcess, closedAt = performance.now()): void {
    if (this.#closed) return;
    const isRead = (): boolean => !process.log.held || performance.now() - closedAt > RETAIN_UNREAD_MS;
    const expired = (): void => (isRead() ? this.forget(process) : this.#expire(process, closedAt));
    const retainMs = this.#options.retainClosedMs ?? RETAIN_CLOSED_MS;
    this.#expiries.set(process.processId, after(retainMs, expired, { keepsAlive: false }));
  }
}

export function processIdInUse(processId: string): ExecError {
  return new ExecError('processIdInUse', 'A process with this id exists already.', { data: { processId } });
}
