import { type Budgeted, BudgetedText } from '../text/budgeted-text.js';
import { unfinishedCharacter } from '../text/unfinished-character.js';
import { TerminalText } from '../text/terminal-text.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { LineIndex } from './line-index.js';

const NEWLINE = 0x0a;
/** A UTF-8 character of which the last byte is missing. */
const MAX_UNFINISHED_BYTES = 3;

export interface LiveOptions {
  readonly maxLineChars: number;
  /** The largest budget a view can be asked for without reading the output again. */
  readonly viewTokens: number;
  readonly tokenizer: Tokenizer;
}

/**
 * Renders output as it arrives, every byte once: the beginning and the end of what nobody has asked for yet, and where
 * the lines of the whole are. Nothing is left to do when somebody asks, however much was printed.
 */
export class LiveOutput {
  readonly index = new LineIndex();
  readonly #options: LiveOptions;
  readonly #decoder = new TextDecoder();
  /** The whole output, from its beginning. */
  readonly #text: TerminalText;
  /** The rest of a line whose beginning was handed out. From the next line on it would show what `#text` does. */
  #rest: TerminalText | null = null;
  #unread: BudgetedText;
  #finished: string[] = [];
  #lines = 0;
  #position = 0;
  #lastBytes: Uint8Array = new Uint8Array(0);

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#text = new TerminalText({ ...options, emit: (line) => void this.#finished.push(line) });
    this.#unread = new BudgetedText({ maxTokens: options.viewTokens, tokenizer: options.tokenizer });
  }

  /** Lines so far; one that has only begun counts. */
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
      bytes.length >= MAX_UNFINISHED_BYTES
        ? bytes.slice(-MAX_UNFINISHED_BYTES)
        : Buffer.concat([this.#lastBytes, bytes]).subarray(-MAX_UNFINISHED_BYTES);
  }

  /**
   * Up to where the output can be shown: a character, or a control sequence unless `raw`, of which only the beginning
   * is there is left for the next time.
   */
  readableEnd({ raw }: { raw: boolean }): number {
    const sequence = raw ? 0 : Buffer.byteLength(this.#text.unfinished);
    return this.#position - unfinishedCharacter(this.#lastBytes) - sequence;
  }

  /** Nothing will follow: what is unfinished stays so. */
  finish(): void {
    this.#write(this.#decoder.decode());
  }

  /** What came since the last time, within a budget; null if that is larger than what was kept. Starts anew. */
  take(maxTokens: number): Budgeted | null {
    const unread = this.#unread;
    const { viewTokens, tokenizer } = this.#options;
    unread.append((this.#rest ?? this.#text).end() ?? '');
    this.#unread = new BudgetedText({ maxTokens: viewTokens, tokenizer });
    this.#rest = this.#text.atLineStart ? null : this.#text.fork((line) => this.#show([line]));
    return maxTokens <= viewTokens || unread.complete ? unread.finish(maxTokens) : null;
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
    if (lines.length > 0) this.#unread.append(`${lines.join('\n')}\n`);
  }
}
