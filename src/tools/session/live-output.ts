import { type Budgeted, BudgetedText } from '../text/budgeted-text.js';
import { incompleteCharacterBytes } from '../text/incomplete-character.js';
import { RepeatedLines } from '../text/repeated-lines.js';
import { TerminalText } from '../text/terminal-text.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { LineIndex } from './line-index.js';

const NEWLINE = 0x0a;
/** The longest UTF-8 character without its last byte. */
const MAX_INCOMPLETE_BYTES = 3;

export interface LiveOptions {
  readonly maxLineChars: number;
  /** The largest budget that can be served without reading the output again. */
  readonly viewTokens: number;
  readonly tokenizer: Tokenizer;
}

/**
 * Renders output as it arrives, each byte once. It keeps the beginning and the end of the unread output and an index of
 * all lines, so that a call for output is cheap however much was printed.
 */
export class LiveOutput {
  readonly index = new LineIndex();
  readonly #options: LiveOptions;
  readonly #decoder = new TextDecoder();
  /** The whole output. */
  readonly #text: TerminalText;
  /** The rest of a line whose beginning was already returned. After that line it would equal `#text`. */
  #rest: TerminalText | null = null;
  #unread: BudgetedText;
  readonly #repeated: RepeatedLines;
  #finished: string[] = [];
  #lines = 0;
  #position = 0;
  #lastBytes: Uint8Array = new Uint8Array(0);

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#text = new TerminalText({ ...options, emit: (line) => void this.#finished.push(line) });
    this.#unread = new BudgetedText({ maxTokens: options.viewTokens, tokenizer: options.tokenizer });
    this.#repeated = new RepeatedLines(options);
  }

  /** Number of lines so far, including an unfinished one. */
  get lineCount(): number {
    return this.#lines + (this.#text.end() === null ? 0 : 1);
  }

  append(bytes: Uint8Array): void {
    const lineStart = bytes.lastIndexOf(NEWLINE) + 1;
    if (lineStart > 0) {
      this.#write(this.#decoder.decode(bytes.subarray(0, lineStart), { stream: true }));
      this.index.add({ position: this.#position + lineStart, lines: this.#lines });
    }
    if (lineStart < bytes.length) {
      this.#write(this.#decoder.decode(bytes.subarray(lineStart), { stream: true }));
    }
    this.#position += bytes.length;
    this.#lastBytes =
      bytes.length >= MAX_INCOMPLETE_BYTES
        ? bytes.slice(-MAX_INCOMPLETE_BYTES)
        : Buffer.concat([this.#lastBytes, bytes]).subarray(-MAX_INCOMPLETE_BYTES);
  }

  /**
   * The end of the output that can be shown now. An incomplete character, or unless `raw` an incomplete control
   * sequence, is left for the next call.
   */
  readableEnd({ raw }: { raw: boolean }): number {
    const sequence = raw ? 0 : Buffer.byteLength(this.#text.unfinished);
    return this.#position - incompleteCharacterBytes(this.#lastBytes) - sequence;
  }

  /** Ends the output: nothing will complete an incomplete character now. */
  finish(): void {
    this.#write(this.#decoder.decode());
  }

  /** Returns the output since the last call, within a budget; null if the budget exceeds what was kept. */
  take(maxTokens: number, cutTokens = maxTokens): Budgeted | null {
    const unread = this.#unread;
    const { viewTokens, tokenizer } = this.#options;
    unread.append(this.#repeated.end());
    unread.append((this.#rest ?? this.#text).end() ?? '');
    this.#unread = new BudgetedText({ maxTokens: viewTokens, tokenizer });
    this.#rest = this.#text.atLineStart ? null : this.#text.fork((line) => this.#show([line]));
    return maxTokens <= viewTokens || unread.complete ? unread.finish(maxTokens, cutTokens) : null;
  }

  #write(text: string): void {
    const firstEnd = this.#rest ? text.indexOf('\n') + 1 || text.length : 0;
    if (firstEnd > 0) {
      this.#rest?.write(text.slice(0, firstEnd));
      this.#text.write(text.slice(0, firstEnd));
      this.#finishedLines();
      if (text[firstEnd - 1] === '\n') this.#rest = null;
    }
    if (firstEnd === text.length) return;
    this.#text.write(text.slice(firstEnd));
    this.#show(this.#finishedLines());
  }

  #finishedLines(): readonly string[] {
    const lines = this.#finished;
    this.#finished = [];
    this.#lines += lines.length;
    return lines;
  }

  #show(lines: readonly string[]): void {
    if (lines.length > 0) this.#unread.append(this.#repeated.add(lines));
  }
}
