/* oxlint-disable no-control-regex -- control characters are what this file is about */
import { MAX_ESCAPE_CHARS, readEscape } from './escape-sequence.js';

/** As far back as an unfinished character or sequence is looked for. */
export const LOOK_BACK_BYTES = MAX_ESCAPE_CHARS;

/**
 * How many of the last bytes belong to a character (or, for `escapes`, a control sequence) whose rest has not arrived.
 * They are better left for the next look.
 */
export function unfinishedBytes(tail: Uint8Array, options: { escapes: boolean }): number {
  const character = unfinishedCharacter(tail);
  if (character > 0 || !options.escapes) return character;
  const escapeAt = tail.lastIndexOf(0x1b);
  if (escapeAt < 0) return 0;
  // The ST that ends a string sequence starts with an ESC of its own.
  const text = Buffer.from(tail.subarray(escapeAt)).toString('latin1');
  return readEscape(text, 0).escape.kind === 'incomplete' ? tail.length - escapeAt : 0;
}

function unfinishedCharacter(tail: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, tail.length); length += 1) {
    const byte = tail[tail.length - length] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf8 && wanted > length ? length : 0;
  }
  return 0;
}
