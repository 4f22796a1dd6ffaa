import {
  followLog,
  type LogHold,
  ProcessHandle,
  type ProcessEnd,
  type ProcessEvent,
  ProcessLog,
  type ProcessSummary,
  type ReadRequest,
  type ReadResult,
  type SignalName,
  type TerminalSize,
  type TerminalState,
  type WriteStatus,
} from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import type { SandboxType } from '../protocol/index.js';
import { type Child, type ChildSink, type ChildSpec, releaseChunk, spawnChild } from './child/index.js';
import type { ConfinedProcess } from './confined-process.js';
import { randomBytes } from './random.js';

/** Queued input past which the answer to a write waits until the program has read some. */
const STDIN_SOFT_LIMIT_BYTES = 1024 * 1024;
/** Queued input past which a write is refused: a program that never reads must not fill our memory. */
const STDIN_HARD_LIMIT_BYTES = 16 * 1024 * 1024;
/** After a kill, output held open by something outside the tree is waited for no longer than this. */
const ABANDON_OUTPUT_MS = 1_000;

export interface LocalProcessSpec extends ChildSpec {
  readonly processId?: string;
  /** The policy it runs under, prepared for this very spec. */
  readonly confined?: ConfinedProcess | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface LocalProcessOptions {
  readonly retainedBytes?: number | undefined;
  readonly windowBytes?: number | undefined;
  /** Nobody keeps output beyond the log, but for what was retained: its memory is used again. */
  readonly recycled?: boolean | undefined;
}

/** A process of this machine: a child, its log, and one way to end. */
export class LocalProcess extends ProcessHandle {
  readonly processId: string;
  readonly tty: boolean;
  readonly sandboxType: SandboxType;
  readonly startedAtMs = Date.now();
  readonly argv: readonly string[];
  readonly log: ProcessLog;
  /** Called when its owner has no more use for it, once it has closed. */
  onDisposed: (() => void) | undefined;
  readonly #child: Child;
  readonly #confined: ConfinedProcess | undefined;
  readonly #closed: Promise<void>;
  #firstHold: LogHold | undefined;
  #readers = 0;
  #timedOut = false;
  #wasKilled = false;
  #timeout: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #killing: Promise<void> | undefined;

  /** Spawns at once. Throws `spawnFailed` and leaves nothing behind when that does not work. */
  constructor(spec: LocalProcessSpec, options: LocalProcessOptions = {}) {
    super();
    this.processId = spec.processId ?? randomBytes(16).toString('hex');
    this.tty = spec.terminal !== null;
    this.argv = spec.argv;
    this.#confined = spec.confined;
    this.sandboxType = spec.confined?.sandboxType ?? 'none';
    this.log = new ProcessLog({
      ...(options.retainedBytes === undefined ? {} : { retainedBytes: options.retainedBytes }),
      ...(options.windowBytes === undefined ? {} : { windowBytes: options.windowBytes }),
      ...(options.recycled ? { onEvicted: releaseChunk } : {}),
      onPressure: (paused) => (paused ? this.#child.pause() : this.#child.resume()),
    });
    let closed: () => void;
    this.#closed = new Promise((resolve) => {
      closed = resolve;
    });
    this.#child = this.#spawn(spec, {
      output: (stream, bytes) => {
        this.#confined?.heard(stream, bytes);
        this.log.appendOutput(stream, bytes);
      },
      exited: (end) => {
        this.#confined?.ended();
        const sandboxDenied = this.#confined?.denied(end.exitCode) ?? false;
        this.log.appendExited({ ...end, timedOut: this.#timedOut, sandboxDenied });
      },
      closed: () => {
        clearTimeout(this.#timeout);
        clearTimeout(this.#grace);
        this.log.appendClosed();
        closed();
      },
    });
    if (spec.timeoutMs !== undefined) this.#timeout = this.#startTimeout(spec.timeoutMs);
  }

  /**
   * Resolves when the program itself runs, at once without a sandbox. Throws where its sandbox could not be set up:
   * then nothing of it is left, and this object is to be disposed.
   */
  async ready(): Promise<void> {
    const [closed, wasKilled, kill] = [this.#closed, () => this.#wasKilled, () => void this.kill()];
    await this.#confined?.ready({ closed, wasKilled, kill });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The mark its whole tree carries. */
  get owner(): number {
    return this.#child.owner;
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

  /** Keeps output from the first byte on for the owner of this handle, until somebody reads or only waits. */
  holdFromStart(): void {
    this.#firstHold = this.log.hold(0);
  }

  override events(options: { afterSeq?: number } = {}): AsyncIterableIterator<ProcessEvent> {
    const afterSeq = options.afterSeq ?? 0;
    const hold = this.log.hold(afterSeq);
    this.#readers += 1;
    this.#releaseFirstHold();
    const release = (): void => {
      this.#readers -= 1;
      hold.release();
    };
    return followLog({
      log: this.log,
      hold: { moveTo: (seq) => hold.moveTo(seq), release: once(release) },
      afterSeq,
    });
  }

  override async read(request: ReadRequest = {}): Promise<ReadResult> {
    const afterSeq = request.afterSeq ?? 0;
    const waitMs = request.waitMs ?? 0;
    if (waitMs > 0) await this.log.news(afterSeq, waitMs);
    return this.log.read(afterSeq, request.maxBytes);
  }

  /** Puts bytes in line for stdin. Throws `stdinFull`, with nothing written, past the hard limit. */
  enqueue(data: Uint8Array): WriteStatus {
    if (!this.#child.stdinOpen) return 'stdinClosed';
    if (this.#child.queuedBytes + data.length > STDIN_HARD_LIMIT_BYTES) {
      throw new ExecError('stdinFull', 'The process does not read its input and the queue is full.');
    }
    this.#child.write(data);
    return 'accepted';
  }

  /** Whether there is room for further input, or no use in it. */
  get takesInput(): boolean {
    return this.#child.queuedBytes <= STDIN_SOFT_LIMIT_BYTES;
  }

  /** Resolves when there is. */
  async writable(): Promise<void> {
    if (!this.takesInput) await this.#child.onceWritable(STDIN_SOFT_LIMIT_BYTES);
  }

  override async write(data: Uint8Array | string): Promise<WriteStatus> {
    const status = this.enqueue(typeof data === 'string' ? new TextEncoder().encode(data) : data);
    await this.writable();
    return status;
  }

  override async closeStdin(): Promise<void> {
    this.#child.closeStdin();
  }

  override async resize(size: TerminalSize): Promise<void> {
    if (!this.tty) throw new ExecError('notATerminal', 'The process does not run on a terminal.');
    this.#child.resize(size);
  }

  async inspect(): Promise<TerminalState | null> {
    return this.#child.terminalState();
  }

  override async signal(signal: SignalName): Promise<void> {
    if (!this.log.closed) this.#signal(signal);
  }

  /** False once the process is closed. What it deliberately left in the background lives on until its owner goes. */
  override async terminate(options: { graceMs?: number } = {}): Promise<boolean> {
    if (this.log.closed) return false;
    const graceMs = options.graceMs ?? 0;
    if (graceMs === 0) {
      void this.kill();
    } else if (!this.#grace) {
      this.#signal('SIGTERM');
      this.#grace = setTimeout(() => void this.kill(), graceMs);
    }
    return true;
  }

  /** Kills the whole tree, survivors of a closed process included. Resolves when nothing of it is left. */
  kill(): Promise<void> {
    clearTimeout(this.#grace);
    this.#wasKilled = true;
    this.#killing ??= this.#killTree().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  override async wait(): Promise<ProcessEnd> {
    if (this.#readers === 0) this.#releaseFirstHold();
    await this.#closed;
    const { exit } = this.log;
    if (!exit) throw new ExecError('internalError', 'A process closed without an exit.');
    const { exitCode, signal } = exit;
    if (exit.timedOut) return { kind: 'timedOut', exitCode };
    return signal === null ? { kind: 'exited', exitCode } : { kind: 'signalled', exitCode, signal };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (!this.log.closed) await this.kill();
    this.onDisposed?.();
  }

  #spawn(spec: LocalProcessSpec, sink: ChildSink): Child {
    try {
      return spawnChild(spec.confined?.child ?? spec, sink);
    } catch (error) {
      spec.confined?.ended();
      throw error;
    } finally {
      spec.confined?.started();
    }
  }

  #signal(signal: SignalName): void {
    if (!this.#confined?.signal(signal)) this.#child.signalGroup(signal);
  }

  async #killTree(): Promise<void> {
    await this.#child.killTree();
    // Something outside the tree may hold the output open: a descriptor handed on through a socket, say.
    const timer = setTimeout(() => this.#child.abandonOutput(), ABANDON_OUTPUT_MS);
    await this.#closed;
    clearTimeout(timer);
  }

  #startTimeout(timeoutMs: number): NodeJS.Timeout | undefined {
    // setTimeout counts in 32 bits; what is longer than 24 days does not need a timer.
    if (timeoutMs > 0x7fff_ffff) return undefined;
    return setTimeout(() => {
      this.#timedOut = this.log.exit === undefined;
      void this.kill();
    }, timeoutMs);
  }

  #releaseFirstHold(): void {
    this.#firstHold?.release();
    this.#firstHold = undefined;
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
