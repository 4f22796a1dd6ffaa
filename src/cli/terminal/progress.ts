import { countOf, durationOf, sizeOf } from './quantities.js';

/** How often the line is drawn: often enough to look alive, rarely enough to cost nothing. */
const REDRAW_MS = 100;
const BAR_CELLS = 20;
const DEFAULT_COLUMNS = 80;

/** What a copy has done, or has to do. */
export interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** A line on stderr that shows the progress of a copy. Silent unless stderr is a terminal. */
export class Progress implements Disposable {
  #total: Amount | undefined;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #files = 0;

  constructor({ quiet = false }: { quiet?: boolean } = {}) {
    if (!quiet && process.stderr.isTTY) this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Whether it is visible: only then is it worth determining how much there is to do. */
  get isShown(): boolean {
    return this.#timer !== undefined;
  }

  /** How much there will be, once that is known. */
  expect(total: Amount): void {
    this.#total = total;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  addFile(): void {
    this.#files += 1;
  }

  /** Makes room for another line on the terminal; this one comes back below it. */
  clear(): void {
    if (this.#timer) process.stderr.write('\r\u001b[K');
  }

  [Symbol.dispose](): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#draw();
    process.stderr.write('\n');
  }

  #draw(): void {
    const done = { files: this.#files, bytes: this.#bytes };
    const seconds = (performance.now() - this.#began) / 1000;
    // A character in the last column would make some terminals begin another line.
    const columns = (process.stderr.columns || DEFAULT_COLUMNS) - 1;
    process.stderr.write(`\r\u001b[K${progressLine(done, this.#total, { seconds, columns })}`);
  }
}

/** The line, as much of it as there is room for: what says least goes first. */
export function progressLine(
  done: Amount,
  total: Amount | undefined,
  { seconds, columns }: { seconds: number; columns: number },
): string {
  const rate = done.bytes / Math.max(0.001, seconds);
  const isTree = done.files > 0 || (total?.files ?? 0) > 1;
  const parts = [
    total ? `${Math.floor(shareOf(done, total) * 100)}%` : undefined,
    total ? `${sizeOf(done.bytes)} of ${sizeOf(total.bytes)}` : sizeOf(done.bytes),
    isTree ? countOf(done.files, total?.files) : undefined,
    `${sizeOf(rate)}/s`,
    total && rate > 0 ? `${durationOf(Math.max(0, total.bytes - done.bytes) / rate)} left` : undefined,
  ].filter((part) => part !== undefined);
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}  ${part}`;
    if (longer.length > columns) break;
    line = longer;
  }
  const bar = total ? `[${barOf(shareOf(done, total))}] ` : '';
  return bar.length + line.length <= columns ? bar + line : line;
}

function shareOf(done: Amount, total: Amount): number {
  return total.bytes === 0 ? 1 : Math.min(1, done.bytes / total.bytes);
}

function barOf(share: number): string {
  return '#'.repeat(Math.round(share * BAR_CELLS)).padEnd(BAR_CELLS, '.');
}
