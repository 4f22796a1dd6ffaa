import type { TerminalSize } from '../contract/index.js';

/**
 * A recording in the form a player needs: text instead of bytes, and times since the beginning. It comes from the history of
 * a process or from a file.
 */
export type Cue =
  | {
      readonly type: 'start';
      readonly atMs: 0;
      readonly size: TerminalSize;
      /** Milliseconds since 1970, if known. */
      readonly startedAtMs: number | null;
      /** The longest pause, if the recording sets one. */
      readonly idleLimitMs: number | null;
    }
  | { readonly type: 'text'; readonly atMs: number; readonly text: string }
  | { readonly type: 'resize'; readonly atMs: number; readonly size: TerminalSize }
  /** A marker. */
  | { readonly type: 'mark'; readonly atMs: number; readonly label: string }
  | { readonly type: 'exit'; readonly atMs: number; readonly exitCode: number };

export type Cues = AsyncIterable<Cue>;

/** Consecutive text is joined up to this length. */
const ENOUGH_CHARS = 64 * 1024;

/** Joins consecutive text, for callers that need only the result and not the times. */
export async function* withoutTimes(cues: Cues): AsyncGenerator<Cue, void> {
  let text = '';
  let atMs = 0;
  for await (const cue of cues) {
    ({ atMs } = cue);
    if (cue.type === 'text') text += cue.text;
    if (text !== '' && (cue.type !== 'text' || text.length >= ENOUGH_CHARS)) {
      yield { type: 'text', atMs, text };
      text = '';
    }
    if (cue.type !== 'text') yield cue;
  }
  if (text !== '') yield { type: 'text', atMs, text };
}
