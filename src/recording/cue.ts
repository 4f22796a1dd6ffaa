import type { TerminalSize } from '../contract/index.js';

/**
 * A recording as a player wants it: text, not bytes, and times since the beginning. Made from the history of a process
 * or from a file.
 */
export type Cue =
  | {
      readonly type: 'start';
      readonly atMs: 0;
      readonly size: TerminalSize;
      /** Milliseconds since 1970, if known. */
      readonly startedAtMs: number | null;
      /** What the recording asks for: no pause is longer. */
      readonly idleLimitMs: number | null;
    }
  | { readonly type: 'text'; readonly atMs: number; readonly text: string }
  | { readonly type: 'resize'; readonly atMs: number; readonly size: TerminalSize }
  /** A remarkable place. */
  | { readonly type: 'mark'; readonly atMs: number; readonly label: string }
  | { readonly type: 'exit'; readonly atMs: number; readonly exitCode: number };

export type Cues = AsyncIterable<Cue>;

/** Text is put together until there is this much of it. */
const ENOUGH_CHARS = 64 * 1024;

/** For whoever looks only at the result: consecutive text in one piece, up to a bound. */
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
