import { positionAfter, type ProcessLog, type TerminalSize } from '../contract/index.js';
import { blank, type RenderJob, type ScreenInput, type ScreenState } from './screen-state.js';
import type { RenderedScreen } from './screen-state.js';
import { SkippedOutput } from './skipped-output.js';

/** The state is updated after this much output, so that nobody who joins waits for more than that to be parsed. */
const STEP_BYTES = 256 * 1024;
/** The same in chunks, because the log keeps a limited number of them. */
const STEP_CHUNKS = 16_384;
/** The most that is parsed at once. If a program prints faster than we can parse, only the end of its text counts. */
const MAX_BYTES = 1024 * 1024;
/** The share of retained output that waits to be parsed. Older output is skipped before the log discards it. */
const UNSKIPPED = 7 / 8;
const UNSKIPPED_CHUNKS = 2 * STEP_CHUNKS;
/** Larger terminals get no screen. Nobody has one, and its cells would take too much memory. */
const MAX_CELLS = 400_000;
const MAX_COLUMNS = 4_000;
/** The most resizes remembered. Those without output in between count as one. */
const MAX_RESIZES = 64;

/** A screen, and its position in the output. */
export interface CapturedScreen {
  readonly size: TerminalSize;
  /** The bytes that make a fresh terminal of this size show the same. */
  readonly bytes: Uint8Array;
  readonly isAlternate: boolean;
  /** The screen includes all output up to this number. */
  readonly afterSeq: number;
}

export interface ProcessScreenOptions {
  readonly log: ProcessLog;
  readonly size: TerminalSize;
  /** How much output the log keeps. Default: at least as much as is parsed at once. */
  readonly retainedBytes?: number | undefined;
  readonly render: (job: RenderJob) => Promise<RenderedScreen | null>;
}

/**
 * The screen of one process. Output is parsed only when there is a lot of it, or when somebody wants to see the screen. The
 * result is kept as text that reproduces the same state.
 */
export class ProcessScreen {
  readonly #options: ProcessScreenOptions;
  readonly #unskippedBytes: number;
  readonly #skipped = new SkippedOutput({ keepsBelow: true });
  #base: { readonly state: ScreenState; readonly seq: number; readonly offset: number };
  #size: TerminalSize;
  #resizes: { readonly afterSeq: number; readonly size: TerminalSize }[] = [];
  #updating: Promise<unknown> | undefined;
  #capturing: Promise<unknown> | undefined;
  #nextCapture: Promise<CapturedScreen | null> | undefined;

  constructor(options: ProcessScreenOptions) {
    this.#options = options;
    this.#unskippedBytes = UNSKIPPED * Math.min(options.retainedBytes ?? MAX_BYTES, MAX_BYTES);
    this.#size = options.size;
    this.#base = {
      state: blank(fits(options.size) ? options.size : { rows: 24, cols: 80 }),
      seq: 0,
      offset: 0,
    };
  }

  get size(): TerminalSize {
    return this.#size;
  }

  resized(size: TerminalSize): void {
    this.#size = size;
    if (!fits(size)) return;
    const afterSeq = this.#options.log.nextSeq - 1;
    if (this.#resizes.at(-1)?.afterSeq === afterSeq) this.#resizes.pop();
    this.#resizes.push({ afterSeq, size });
    if (this.#resizes.length > MAX_RESIZES) this.#resizes.shift();
  }

  /** Call after every output. Updates the state once there is enough of it. */
  printed(): void {
    const { log } = this.#options;
    const [bytes, chunks] = [log.totalBytes - this.#base.offset, log.nextSeq - this.#base.seq];
    if (bytes > this.#unskippedBytes || chunks > UNSKIPPED_CHUNKS) this.#skipOld();
    const stepBytes = Math.min(STEP_BYTES, this.#unskippedBytes / 2);
    if (this.#updating || (bytes < stepBytes && chunks < STEP_CHUNKS)) return;
    this.#updating = this.#update({ shown: false }).finally(() => {
      this.#updating = undefined;
    });
  }

  /** The current screen; null if it cannot be shown. Concurrent callers share the work. */
  async capture(): Promise<CapturedScreen | null> {
    this.#nextCapture ??= this.#captureNext();
    return await this.#nextCapture;
  }

  async #captureNext(): Promise<CapturedScreen | null> {
    // The capture in progress may be older than this request.
    await this.#capturing;
    // Later requests may need something newer.
    this.#nextCapture = undefined;
    const capture = this.#capture();
    this.#capturing = capture.finally(() => {
      this.#capturing = undefined;
    });
    return await capture;
  }

  async #capture(): Promise<CapturedScreen | null> {
    if (!fits(this.#size)) return null;
    const { rendered, afterSeq } = await this.#update({ shown: true });
    if (!rendered || rendered.shown === null) return null;
    const { state, shown, isAlternate } = rendered;
    const bytes = Buffer.concat([Buffer.from(shown), state.unfinished]);
    return { size: state.size, bytes, isAlternate, afterSeq };
  }

  async #update({
    shown,
  }: {
    shown: boolean;
  }): Promise<{ rendered: RenderedScreen | null; afterSeq: number }> {
    const { log, render } = this.#options;
    const from = this.#base;
    const inputs = this.#inputsSince(from.seq);
    const [seq, offset, size, taken] = [log.nextSeq - 1, log.totalBytes, this.#size, this.#resizes];
    this.#resizes = [...taken];
    const job = { from: from.state, inputs, shown };
    const rendered = await render(job);
    // Another capture may have got further. Output that cannot be rendered is skipped.
    if (seq >= this.#base.seq) {
      const state = rendered?.state ?? withoutText(job, fits(size) ? size : from.state.size);
      this.#base = { state, seq, offset };
      this.#skipped.parsed(seq, state.unfinished);
      this.#resizes = this.#resizes.filter((each) => !taken.includes(each));
    }
    return { rendered, afterSeq: seq };
  }

  /** Skims output that the log may discard before it can be parsed. */
  #skipOld(): void {
    const { log } = this.#options;
    const end = Math.max(log.positionBeforeLast(this.#unskippedBytes), log.nextSeq - 1 - UNSKIPPED_CHUNKS);
    for (let event = log.next(this.#skipped.seq); event; event = log.next(this.#skipped.seq)) {
      const position = positionAfter(event);
      if (position > end) return;
      this.#skipped.skip(position, event.type === 'output' ? event.bytes : NOTHING);
    }
  }

  /** Copies the output since then, because the log may reuse its memory. */
  #inputsSince(seq: number): ScreenInput[] {
    const { log } = this.#options;
    const inputs: ScreenInput[] = [];
    const resizes = [...this.#resizes];
    let chunks: Uint8Array[] = [];
    const flush = (): void => {
      if (chunks.length > 0) inputs.push({ bytes: new Uint8Array(Buffer.concat(chunks)) });
      chunks = [];
    };
    const resizeUpTo = (limit: number): void => {
      while ((resizes[0]?.afterSeq ?? Number.POSITIVE_INFINITY) < limit) {
        const next = resizes.shift();
        flush();
        if (next) inputs.push({ size: next.size });
      }
    };
    let position = Math.max(seq, this.#skipped.seq);
    if (position > seq) {
      resizeUpTo(position);
      chunks.push(this.#skipped.lasting, this.#skipped.open);
    }
    for (let event = log.next(position); event; event = log.next(position)) {
      position = positionAfter(event);
      if (event.type !== 'output') continue;
      resizeUpTo(event.seq);
      chunks.push(event.bytes);
    }
    resizeUpTo(Number.POSITIVE_INFINITY);
    flush();
    return inputs;
  }
}

const NOTHING = new Uint8Array(0);

/** An empty terminal with the modes it would have. */
function withoutText({ from, inputs }: RenderJob, size: TerminalSize): ScreenState {
  const skipped = new SkippedOutput({ keepsBelow: false });
  const pieces = [Buffer.from(from.text), from.unfinished];
  for (const input of inputs) if ('bytes' in input) pieces.push(input.bytes);
  for (const bytes of pieces) skipped.skip(0, bytes);
  return { size, text: Buffer.from(skipped.lasting).toString(), unfinished: skipped.open };
}

function fits({ rows, cols }: TerminalSize): boolean {
  return rows * cols <= MAX_CELLS && cols <= MAX_COLUMNS;
}
