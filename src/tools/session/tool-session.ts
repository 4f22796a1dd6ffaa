import type { ExecProcess, ExitedEvent } from '../../contract/index.js';
import { ExecError } from '../../protocol/index.js';
import type { Budgeted } from '../text/budgeted-text.js';
import type { Tokenizer } from '../text/tokenizer.js';
import type { LiveOutput } from './live-output.js';
import { lossNotice } from './output-lines.js';
import { viewOutput } from './output-view.js';
import type { Transcript } from './transcript.js';

/** How long `kill` waits for a killed process to close its output. */
const KILL_WAIT_MS = 6_000;

export interface ViewRequest {
  readonly raw: boolean;
  readonly maxLineChars: number;
  readonly maxTokens: number;
  /** What longer output is cut to. Default: `maxTokens`. */
  readonly cutTokens?: number;
  readonly tokenizer: Tokenizer;
}

/** One command and its session ID. It reads output continuously and keeps unread output in the transcript. */
export class ToolSession {
  readonly id: number;
  readonly command: string;
  readonly process: ExecProcess;
  readonly transcript: Transcript;
  readonly live: LiveOutput;
  readonly startedAtMs = performance.now();
  lastUsedAtMs = performance.now();
  /** True once a call has reported the end. */
  reported = false;
  readonly #listeners = new Set<() => void>();
  #cursor = 0;
  #taking: Promise<unknown> = Promise.resolve();
  #exit: ExitedEvent | null = null;
  #endedAtMs: number | null = null;
  #failure: Error | null = null;
  #closed = false;
  /** The last event that was taken in. */
  #lastSeq = 0;
  #gapBytes = 0;
  #lastOutputAtMs = performance.now();

  constructor(options: {
    id: number;
    command: string;
    process: ExecProcess;
    transcript: Transcript;
    live: LiveOutput;
  }) {
    this.id = options.id;
    this.command = options.command;
    this.process = options.process;
    this.transcript = options.transcript;
    this.live = options.live;
    void this.#follow();
  }

  /** How the command itself ended; null while it is running. */
  get exit(): ExitedEvent | null {
    return this.#exit;
  }

  /** How long the command has been running, or ran. */
  get runTimeMs(): number {
    return (this.#endedAtMs ?? performance.now()) - this.startedAtMs;
  }

  /** Set when contact with the process was lost; how it ended is unknown. */
  get failure(): Error | null {
    return this.#failure;
  }

  get over(): boolean {
    return this.#exit !== null || this.#failure !== null;
  }

  /** No more output can come, not even from background jobs. */
  get closed(): boolean {
    return this.#closed || this.#failure !== null;
  }

  /** Bytes that can no longer be read: lost on the way, or not kept here. */
  get lostBytes(): number {
    return this.#gapBytes + this.transcript.lostBytes;
  }

  /** The position up to which output has been returned. */
  get cursor(): number {
    return this.#cursor;
  }

  get lastOutputAtMs(): number {
    return this.#lastOutputAtMs;
  }

  /** Whether the transcript holds all that the process has printed so far. On a busy machine it may lag behind. */
  async hasAllOutput(): Promise<boolean> {
    const { chunks } = await this.process.read({ afterSeq: this.#lastSeq, maxBytes: 1 });
    return chunks.every(({ seq }) => seq <= this.#lastSeq);
  }

  /** Calls `listener` on output and when the process ends. Returns an unsubscribe function. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the output since the last call, within a budget. Concurrent calls never return the same output. */
  take(request: ViewRequest): Promise<Budgeted> {
    const taken = this.#taking.then(() => this.#take(request));
    this.#taking = taken.catch(() => undefined);
    return taken;
  }

  /** Kills the process tree and waits until no more output can come. */
  async kill(): Promise<void> {
    if (this.closed) return;
    // A machine that is out of reach ends its processes itself.
    if (!(await this.process.terminate().catch(() => false))) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        if (!this.closed) return;
        clearTimeout(timer);
        stop();
        resolve();
      };
      const stop = this.subscribe(done);
      const timer = setTimeout(() => {
        stop();
        resolve();
      }, KILL_WAIT_MS);
      done();
    });
  }

  async #take(request: ViewRequest): Promise<Budgeted> {
    if (this.over) this.live.finish();
    const from = this.#cursor;
    const to = this.over ? this.transcript.end : this.live.readableEnd(request);
    // Output that arrives while we read below belongs to the next call.
    this.#cursor = to;
    const rendered = this.live.take(request.maxTokens, request.cutTokens);
    if (rendered && !request.raw) return rendered;
    return await viewOutput(this.transcript, { ...request, from, to });
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.process.events()) {
        if (event.type === 'output') await this.#append(event.bytes);
        else if (event.type === 'gap') await this.#skip(event.lostBytes);
        else if (event.type === 'exited') this.#end(event);
        else this.#closed = true;
        this.#lastSeq = event.type === 'gap' ? event.beforeSeq - 1 : event.seq;
        this.#announce();
      }
    } catch (cause) {
      this.#failure = new ExecError('contactLost', 'Contact with the process was lost.', { cause });
      this.#announce();
    }
  }

  #end(event: ExitedEvent): void {
    this.#exit = event;
    this.#endedAtMs = performance.now();
  }

  async #skip(lostBytes: number): Promise<void> {
    this.#gapBytes += lostBytes;
    await this.#append(Buffer.from(`\n${lossNotice(lostBytes)}\n`));
  }

  async #append(bytes: Uint8Array): Promise<void> {
    this.#lastOutputAtMs = performance.now();
    this.live.append(bytes);
    await this.transcript.append(bytes);
  }

  #announce(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
