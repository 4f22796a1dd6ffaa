import type {
  InputQueue,
  LogArchive,
  ProcessLog,
  ProcessSummary,
  SignalName,
  TerminalSize,
  TerminalState,
  WriteStatus,
} from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import type { SandboxType } from '../protocol/index.js';
import { beginChild } from './begin-child.js';
import { ChildInput } from './child-input.js';
import { randomBytes } from './kernel/random.js';
import type { LocalProcessOptions, LocalProcessSpec } from './local-process-spec.js';
import { logSink } from './log-sink.js';
import { LoggedProcess } from './logged-process.js';
import { openLog } from './open-log.js';
import { ProcessEnding } from './process-ending.js';
import type { ProcessKeeping } from './process-keeping.js';
import { RunRecord } from './run-record.js';
import type { SandboxedLaunch } from './sandbox/index.js';
import { type Child, recordTrees } from './spawn/index.js';

/** A process on this machine: a child, its log, and a single way to end. */
export class LocalProcess extends LoggedProcess implements InputQueue {
  readonly processId: string;
  readonly tty: boolean;
  readonly sandboxType: SandboxType;
  readonly changesId: string | undefined;
  readonly startedAtMs: number;
  readonly argv: readonly string[];
  /** Where it was started; undefined if an earlier server did that, and did not say. */
  readonly cwd: string | undefined;
  readonly log: ProcessLog;
  /** Its stdin, without waiting. */
  readonly input: ChildInput;
  /** Called when its owner no longer needs it, once it has closed. */
  onDisposed: (() => void) | undefined;
  /** Called when its terminal has another size. */
  onResized: ((size: TerminalSize) => void) | undefined;
  /** The name of the client that started it. May be empty. */
  readonly startedBy: string;
  #size: TerminalSize | null;
  /** What the run has come to so far. */
  readonly run: RunRecord;
  readonly #child: Child;
  readonly #archive: LogArchive | undefined;
  readonly #confined: SandboxedLaunch | undefined;
  readonly #closed: Promise<void>;
  readonly #ending: ProcessEnding;
  /**
   * What lets it outlive its server.
   *
   * @internal
   */
  readonly keeping: ProcessKeeping | undefined;
  /**
   * Writes that an earlier server accepted for it.
   *
   * @internal
   */
  readonly takenWrites: readonly string[];

  /** Spawns immediately. On failure it throws `spawnFailed` and leaves nothing behind. */
  constructor(spec: LocalProcessSpec, options: LocalProcessOptions = {}) {
    super();
    this.processId = spec.processId ?? randomBytes(16).toString('hex');
    this.tty = spec.terminal !== null;
    this.startedBy = spec.startedBy ?? '';
    this.#size = spec.terminal;
    this.cwd = spec.taken ? spec.taken.cwd : spec.cwd;
    this.argv = spec.shownArgv ?? spec.argv;
    this.startedAtMs = spec.keeping?.startedAtMs ?? Date.now();
    this.#confined = spec.confined;
    this.keeping = spec.keeping;
    this.changesId = spec.changesId;
    this.sandboxType = spec.confined?.sandboxType ?? 'none';
    this.#archive = spec.archive?.(this.processId);
    this.log = openLog(spec, options, {
      archive: this.#archive,
      onPressure: (paused) => (paused ? this.#child.pause() : this.#child.resume()),
    });
    this.run = new RunRecord({ ...this.log.exit, endedAtMs: spec.taken?.endedAtMs });
    let closed: () => void = () => undefined;
    this.#closed = new Promise((resolve) => {
      closed = resolve;
    });
    this.#ending = new ProcessEnding({
      signal: (signal) => this.#signal(signal),
      recordTree: () => void recordTrees(),
      killTree: () => this.#child.killTree(),
      abandonOutput: () => this.#child.abandonOutput(),
      timedOut: () => this.keeping?.killAt(Date.now(), { timedOut: true }),
      exited: () => this.log.exit !== undefined,
      closed: this.#closed,
    });
    if (spec.taken?.timedOut) this.#ending.hasTimedOut();
    const { confined, denials } = spec;
    const sink = logSink({
      log: this.log,
      ending: this.#ending,
      confined,
      denials,
      reportsUsage: spec.reportsUsage ?? false,
      run: this.run,
      closed: () => {
        closed();
        options.onEnded?.(this);
      },
    });
    try {
      const { child, writes } = beginChild(spec, this.log, sink);
      this.#child = child;
      this.takenWrites = writes;
      if (spec.taken && this.log.exit) this.#confined?.over();
    } catch (error) {
      this.#archive?.discard();
      throw error;
    }
    this.input = new ChildInput(this.#child);
    if (spec.timeoutMs !== undefined) this.#ending.limit(spec.timeoutMs);
  }

  /**
   * Resolves when the program itself is running, without a sandbox at once. Throws if its sandbox could not be set up:
   * then nothing is left of it, and this object must be disposed.
   */
  async ready(): Promise<void> {
    const [closed, wasKilled, kill] = [this.#closed, () => this.#ending.wasKilled, () => void this.kill()];
    await this.#confined?.ready({ closed, wasKilled, kill });
    const firstPid = this.#confined?.firstPid ?? null;
    if (firstPid !== null) this.keeping?.confined(firstPid);
  }

  /** The size of its terminal; null without one. */
  get size(): TerminalSize | null {
    return this.#size;
  }

  /** Whether all of its output is kept on disk. */
  get recorded(): boolean {
    return this.#archive !== undefined;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Called once nothing is left of its tree; see `Child`. */
  set onTreeGone(listener: () => void) {
    const { keeping } = this;
    this.#child.onTreeGone = () => {
      keeping?.treeGone();
      listener();
    };
  }

  /** Identifies its whole process tree. */
  get treeId(): number {
    return this.#child.treeId;
  }

  summary(): ProcessSummary {
    const { processId, pid, argv, tty, startedAtMs, log } = this;
    const { exit, closed } = log;
    const exited = exit !== undefined;
    return {
      processId,
      pid,
      argv: [...argv],
      tty,
      startedAtMs,
      exited,
      exitCode: exit?.exitCode ?? null,
      closed,
    };
  }

  /** Queued input that the program has not read. */
  get queuedInputBytes(): number {
    return this.input.queuedBytes;
  }

  onInputGone(listener: () => void): () => void {
    return this.log.subscribe(() => {
      if (this.log.closed) listener();
    });
  }

  override async write(data: Uint8Array | string): Promise<WriteStatus> {
    const status = this.input.enqueue(typeof data === 'string' ? new TextEncoder().encode(data) : data);
    await this.input.writable();
    return status;
  }

  override async closeStdin(): Promise<void> {
    this.input.close();
  }

  override async resize(size: TerminalSize): Promise<void> {
    if (!this.tty) throw new ExecError('notATerminal', 'The process does not run on a terminal.');
    this.#child.resize(size);
    this.#size = size;
    this.log.recordSize(size);
    this.onResized?.(size);
  }

  /** No one will ask this object for output again. What must be kept is on disk. */
  forgotten(): void {
    // First what the next server could not find any more.
    this.#archive?.release();
    this.keeping?.forgotten();
  }

  /** Its start failed after all: forget everything. */
  discardOutput(): void {
    this.#archive?.discard();
  }

  async inspect(): Promise<TerminalState | null> {
    return this.#child.terminalState();
  }

  override async signal(signal: SignalName): Promise<void> {
    if (!this.log.closed) this.#signal(signal);
  }

  /** False once the process is closed. What it deliberately left in the background lives until its owner goes. */
  override async terminate(options: { graceMs?: number } = {}): Promise<boolean> {
    if (this.log.closed) return false;
    const { graceMs = 0 } = options;
    this.keeping?.killAt(Date.now() + graceMs, { timedOut: this.#ending.timedOut });
    this.#ending.terminate(graceMs);
    return true;
  }

  /** Kills the whole tree, because its held changes take up too much room. */
  stopForRoom(): void {
    this.#ending.stopForRoom();
  }

  /** Kills the whole tree, including survivors of a closed process. Resolves when nothing is left of it. */
  kill(): Promise<void> {
    return this.#ending.kill();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (!this.log.closed) await this.kill();
    this.onDisposed?.();
  }

  #signal(signal: SignalName): void {
    if (!this.#confined?.signal(signal)) this.#child.signalGroup(signal);
  }
}
