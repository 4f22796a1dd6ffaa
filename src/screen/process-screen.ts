import { positionAfter, type ProcessLog, type TerminalSize } from '../contract/index.js';
import { blank, type RenderJob, type ScreenInput, type ScreenState } from './screen-state.js';
import type { RenderedScreen } from './screen-state.js';
import { SkippedOutput } from './skipped-output.js';

/** After this much output the state is brought up to date, so that whoever joins never waits for more than that. */
const STEP_BYTES = 256 * 1024;
/** The same for chunks, of which the log keeps only so many. */
const STEP_CHUNKS = 16_384;
/** Most that is parsed at once. Of the text that a program prints faster than it can be parsed, only the end counts. */
const MAX_BYTES = 1024 * 1024;
/** Part of what the log keeps that is left to be parsed. Older output is skipped before the log discards it. */
const UNSKIPPED = 7 / 8;
const UNSKIPPED_CHUNKS = 2 * STEP_CHUNKS;
/** Larger terminals get no screen: nobody has one, and their cells would take too much memory. */
const MAX_CELLS = 400_000;
const MAX_COLUMNS = 4_000;
/** Sizes without output between them count as one; more than these are not remembered. */
const MAX_RESIZES = 64;

/** What joins a screen to the output that follows it. */
export interface CapturedScreen {
  readonly size: TerminalSize;
  /** What a fresh terminal of this size is given to show the same. */
  readonly bytes: Uint8Array;
  readonly isAlternate: boolean;
  /** The screen shows all output up to this number. */
  readonly afterSeq: number;
}

export interface ProcessScreenOptions {
  readonly log: ProcessLog;
  readonly size: TerminalSize;
  /** What the log keeps. Default: at least as much as is parsed at once. */
  readonly retainedBytes?: number | undefined;
  readonly render: (job: RenderJob) => Promise<RenderedScreen | null>;
}

/**
 * The screen of one process. Nothing is parsed before there is a lot of output, or somebody wants to see it. What was
 * parsed is kept as text that leads to the same state.
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

  /** Called after every output: brings the state up to date once there is enough of it. */
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

  /** The screen as it is now; null if it cannot be shown. However many ask, there is one to be made at a time. */
  async capture(): Promise<CapturedScreen | null> {
    this.#nextCapture ??= this.#captureNext();
    return await this.#nextCapture;
  }

  async #captureNext(): Promise<CapturedScreen | null> {
    // What is being made may be older than what was asked for.
    await this.#capturing;
    // From here on, whoever asks may want something newer.
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
    // Somebody else may have been further. Output that cannot be rendered is left behind.
    if (seq >= this.#base.seq) {
      const state = rendered?.state ?? withoutText(job, fits(size) ? size : from.state.size);
      this.#base = { state, seq, offset };
      this.#skipped.parsed(seq, state.unfinished);
      this.#resizes = this.#resizes.filter((each) => !taken.includes(each));
    }
    return { rendered, afterSeq: seq };
  }

  /** Looks through what the log may discard before it can be parsed. */
  #skipOld(): void {
    const { log } = this.#options;
    const end = Math.max(log.positionBeforeLast(this.#unskippedBytes), log.nextSeq - 1 - UNSKIPPED_CHUNKS);
    for (let event = log.next(this.#skipped.seq); event; event = log.next(this.#skipped.seq)) {
      const position = positionAfter(event);
      if (position > end) return;
      this.#skipped.skip(position, event.type === 'output' ? event.bytes : NOTHING);
    }
  }

  /** Copies what happened since. The log may reuse its memory. */
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

/** An empty terminal with the modes that it would have. */
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
