import type { HistoryEntry, OutputStream, TerminalSize } from '../../src/contract/index.js';

export const START_MS = 1_760_000_000_000;

/** The beginning of a history: on a terminal if there is a size. */
export function start(size: TerminalSize | null = { rows: 24, cols: 80 }): HistoryEntry {
  return { type: 'start', timeMs: START_MS, tty: size !== null, size };
}

/** Output at so many milliseconds after the start. */
export function output(
  atMs: number,
  content: string | Uint8Array,
  stream: OutputStream = 'pty',
): HistoryEntry {
  return { type: 'output', timeMs: START_MS + atMs, seq: 1, stream, bytes: Buffer.from(content) };
}

export function resize(atMs: number, cols: number, rows: number): HistoryEntry {
  return { type: 'resize', timeMs: START_MS + atMs, size: { cols, rows } };
}

export function end(atMs: number, exitCode = 0): HistoryEntry {
  return { type: 'end', timeMs: START_MS + atMs, exitCode, signal: null, timedOut: false };
}

export async function* inTurn<Item>(items: Iterable<Item>): AsyncGenerator<Item, void> {
  yield* items;
}

export async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

export async function listed<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
