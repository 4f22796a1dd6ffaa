import { closeSync } from 'node:fs';
import { ExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';
import { type Child, type ChildSink, killTrees } from './spawn/index.js';
import { type ConfinedSpec, SandboxedLaunch, SpareSandboxes } from './sandbox/index.js';
import { LocalProcess, type LocalProcessOptions, type LocalProcessSpec } from './local-process.js';
import { ShellSnapshots, type SnapshotRequest } from './shell-snapshot/index.js';
import { spawnAny } from './spawn-scripted.js';

/** How long a closed process can still be read, as Codex keeps it. */
const RETAIN_CLOSED_MS = 30_000;
/** How long at most, for a reader that has not acknowledged all of it. */
const RETAIN_UNREAD_MS = 10 * 60_000;
/** Processes one owner may have at a time. Closed ones that are only retained give way. */
export const DEFAULT_MAX_PROCESSES = 4096;

export interface ProcessTableOptions extends LocalProcessOptions {
  readonly maxProcesses?: number | undefined;
  /** Called when an id is free again: what else is kept under it can go. */
  readonly onForgotten?: ((processId: string) => void) | undefined;
}

/** A login shell that may be started with what its profile did before. */
export interface ProfileRequest extends SnapshotRequest {
  readonly sandbox: Sandbox | null;
  /** Variables asked for by name: no profile changes them. */
  readonly asked: Readonly<Record<string, string>>;
}

/** The processes of one owner, by id. When the owner goes, so do they, with everything they started. */
export class ProcessTable {
  readonly #options: ProcessTableOptions;
  readonly #processes = new Map<string, LocalProcess>();
  /** Of closed processes, those that closed first first. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();
  /** Marks of every tree that may still have members, those of processes long closed included. Others are let go in bulk. */
  readonly #trees = new Set<number>();
  readonly #spares = new SpareSandboxes();
  /** Those that exist: their names on disk are free a moment after their processes have ended. */
  readonly #sandboxes = new Set<SandboxedLaunch>();
  readonly #snapshots = new ShellSnapshots();
  #closed = false;

  constructor(options: ProcessTableOptions = {}) {
    this.#options = options;
  }

  get(processId: string): LocalProcess | undefined {
    return this.#processes.get(processId);
  }

  /** How many trees may still have members. */
  get treeCount(): number {
    return this.#trees.size;
  }

  all(): LocalProcess[] {
    return [...this.#processes.values()];
  }

  #untilGone(launch: SandboxedLaunch): SandboxedLaunch {
    this.#sandboxes.add(launch);
    void launch.gone.then(() => this.#sandboxes.delete(launch));
    return launch;
  }

  /**
   * The same command with the state its login shell has after the profile, if that is or can be known; otherwise as it is.
   * The first of a kind runs the profile once, under the same policy. Start what comes back, or close its `script`.
   */
  async withoutProfile(spec: LocalProcessSpec, request: ProfileRequest): Promise<LocalProcessSpec> {
    const { sandbox, asked } = request;
    const snapshot = await this.#snapshots.get(spec, request, (inner, sink) =>
      this.#spawnAside(inner, sandbox, sink),
    );
    const given = snapshot?.give(spec.env, asked);
    if (!given) return spec;
    const [shell = '', , ...rest] = spec.argv;
    return { ...spec, ...given, argv: [shell, '-c', ...rest], shownArgv: spec.argv };
  }

  /** Nobody's process, but its tree ends with all others here. */
  async #spawnAside(spec: ConfinedSpec, sandbox: Sandbox | null, sink: ChildSink): Promise<Child> {
    const confined = sandbox ? this.#untilGone(await SandboxedLaunch.prepare(spec, sandbox)) : null;
    const child = confined?.spawn(sink) ?? spawnAny(spec, sink);
    this.#trees.add(child.treeId);
    if (this.#closed) await child.killTree();
    return child;
  }

  /** Spawns at once. A failed start leaves the id free. */
  start(spec: LocalProcessSpec): LocalProcess {
    try {
      this.#admit(spec.processId);
    } catch (error) {
      spec.confined?.discard();
      if (spec.script !== undefined) closeSync(spec.script);
      throw error;
    }
    const process = new LocalProcess(spec, this.#options);
    this.#processes.set(process.processId, process);
    this.#remember(process);
    process.onDisposed = () => this.#forget(process);
    const stop = process.log.subscribe(() => {
      if (!process.log.closed) return;
      stop();
      this.#expire(process);
    });
    return process;
  }

  /**
   * Starts a program under a policy. Resolves when the program itself runs, with its output held from the first byte on. If its
   * sandbox cannot be set up, nothing of it is left and the id is free again.
   */
  async startConfined(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    const confined = this.#untilGone(await SandboxedLaunch.prepare(spec, sandbox, this.#spares));
    // The script is with the sandbox by now.
    const { script: _, ...program } = spec;
    const process = this.start({ ...program, confined });
    process.holdFromStart();
    try {
      await process.ready();
    } catch (error) {
      process.stopHolding();
      await process[Symbol.asyncDispose]();
      throw error;
    }
    return process;
  }

  /** Apart from all that knows the process: this is kept longer. */
  #remember(process: LocalProcess): void {
    const { treeId } = process;
    const trees = this.#trees;
    trees.add(treeId);
    process.onTreeGone = () => void trees.delete(treeId);
  }

  #admit(processId: string | undefined): void {
    if (this.#closed) throw new ExecError('sessionNotFound', 'The session has ended.');
    if (processId !== undefined && this.#processes.has(processId)) {
      throw new ExecError('processIdInUse', 'A process with this id exists already.', {
        data: { processId },
      });
    }
    const limit = this.#options.maxProcesses ?? DEFAULT_MAX_PROCESSES;
    if (this.#processes.size >= limit && !this.#makeRoom()) {
      throw new ExecError('tooManyProcesses', 'The session runs as many processes as it may.');
    }
  }

  /** Forgets the process that closed first, unless somebody has still to be told how it ended. */
  #makeRoom(): boolean {
    for (const processId of this.#expiries.keys()) {
      const process = this.#processes.get(processId);
      if (process === undefined || process.log.held) continue;
      this.#forget(process);
      return true;
    }
    return false;
  }

  /** Ends everything that was ever started here and still runs. Then nothing of its sandboxes is left, either. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#expiries.values()) clearTimeout(timer);
    this.#expiries.clear();
    const running = this.all().filter((process) => !process.log.closed);
    await Promise.all([
      ...running.map((process) => process.kill()),
      killTrees(this.#trees),
      this.#spares.close(),
    ]);
    await Promise.all([...this.#sandboxes].map(({ gone }) => gone));
    this.#processes.clear();
    this.#trees.clear();
  }

  /** Nobody will read it again: neither its output nor its place in the table is needed. */
  #forget(process: LocalProcess): void {
    const { processId } = process;
    if (this.#processes.get(processId) !== process) return;
    clearTimeout(this.#expiries.get(processId));
    this.#expiries.delete(processId);
    this.#processes.delete(processId);
    this.#options.onForgotten?.(processId);
  }

  /** Output that a reader has not acknowledged is kept longer: it may be far away, or coming back. */
  #expire(process: LocalProcess, closedAt = performance.now()): void {
    if (this.#closed) return;
    const isRead = (): boolean => !process.log.held || performance.now() - closedAt > RETAIN_UNREAD_MS;
    const timer = setTimeout(
      () => (isRead() ? this.#forget(process) : this.#expire(process, closedAt)),
      RETAIN_CLOSED_MS,
    );
    timer.unref();
    this.#expiries.set(process.processId, timer);
  }
}
