import { BudgetedText, type Budgeted } from '../text/budgeted-text.js';
import { RepeatedLines } from '../text/repeated-lines.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { lossNotice, type OutputRange, outputLines } from './output-lines.js';
import type { Transcript } from './transcript.js';

export interface ViewOptions extends OutputRange {
  readonly maxTokens: number;
  readonly cutTokens?: number;
  readonly tokenizer: Tokenizer;
}

/** Renders part of a transcript within a token budget. Memory depends on the budget, not on the length. */
export async function viewOutput(transcript: Transcript, options: ViewOptions): Promise<Budgeted> {
  const text = new BudgetedText(options);
  const pieces = options.raw ? rawPieces(transcript, options) : foldedPieces(transcript, options);
  for await (const piece of pieces) text.append(piece);
  return text.finish(options.maxTokens, options.cutTokens);
}

async function* foldedPieces(transcript: Transcript, range: OutputRange): AsyncGenerator<string, void> {
  const repeated = new RepeatedLines(range);
  for await (const { lines, complete } of outputLines(transcript, range)) {
    yield complete ? repeated.add(lines) : `${repeated.end()}${lines.join('\n')}`;
  }
  yield repeated.end();
}

async function* rawPieces(transcript: Transcript, { from, to }: OutputRange): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const piece of transcript.read(from, to)) {
    if (piece.kind === 'bytes') yield decoder.decode(piece.bytes, { stream: true });
    else yield `${decoder.decode()}\n${lossNotice(piece.lostBytes)}\n`;
  }
  yield decoder.decode();
}
