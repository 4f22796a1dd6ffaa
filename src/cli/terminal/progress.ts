/** Often enough to look alive, rare enough to cost nothing. */
const REDRAW_MS = 100;
const BAR_CELLS = 24;
const MEGABYTE = 1_000_000;

/** A progress line on stderr for a copy. Silent unless stderr is a terminal. */
export class Progress implements Disposable {
  #total: number | undefined;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #files = 0;

  constructor({ quiet = false }: { quiet?: boolean } = {}) {
    if (!quiet && process.stderr.isTTY) this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Sets the total number of bytes, once it is known. */
  expect(bytes: number): void {
    this.#total = bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  addFile(): void {
    this.#files += 1;
  }

  [Symbol.dispose](): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#draw();
    process.stderr.write('\n');
  }

  #draw(): void {
    const rate = this.#bytes / MEGABYTE / Math.max(0.001, (performance.now() - this.#began) / 1000);
    process.stderr.write(`\r\u001b[K${this.#status()}  ${rate.toFixed(1)} MB/s`);
  }

  #status(): string {
    const done = `${(this.#bytes / MEGABYTE).toFixed(1)} MB`;
    if (this.#total === undefined) return `${this.#files} files  ${done}`;
    const share = this.#total === 0 ? 1 : Math.min(1, this.#bytes / this.#total);
    const filled = Math.round(share * BAR_CELLS);
    const bar = '#'.repeat(filled).padEnd(BAR_CELLS, '.');
    return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)}%  ${done}`;
  }
}
