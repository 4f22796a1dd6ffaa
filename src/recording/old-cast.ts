import { isObject, isSeconds, jsonOf, requireSize } from './cast-values.js';
import type { Cue } from './cue.js';
import { damaged, MAX_LINE_BYTES, type NumberedLine } from './file-lines.js';

/** Reads version 1 of asciicast: a single JSON object. It has to fit into memory, so its size is limited. */
export async function oldCast(
  first: NumberedLine,
  rest: AsyncIterable<NumberedLine>,
): Promise<Iterable<Cue>> {
  let text = first.text;
  let last = first.number;
  for await (const line of rest) {
    text += `\n${line.text}`;
    last = line.number;
    if (text.length > MAX_LINE_BYTES) throw damaged(line.number, 'is larger than one JSON object may be');
  }
  const recording = jsonOf(text);
  if (!isObject(recording) || recording['version'] !== 1)
    throw damaged(1, 'is not an asciicast header of version 1, 2 or 3');
  const { stdout } = recording;
  if (!Array.isArray(stdout)) throw damaged(last, 'ends an object without `stdout`');
  return cuesOf(requireSize([recording['width'], recording['height']], 1), stdout, last);
}

/** Times count from the previous event. */
function* cuesOf(
  size: { cols: number; rows: number },
  stdout: readonly unknown[],
  last: number,
): Generator<Cue, void> {
  yield { type: 'start', atMs: 0, size, startedAtMs: null, idleLimitMs: null };
  let atMs = 0;
  for (const [index, event] of stdout.entries()) {
    const [seconds, text]: unknown[] = Array.isArray(event) ? event : [];
    if (!isSeconds(seconds) || typeof text !== 'string')
      throw damaged(last, `ends an object whose event ${index + 1} is not [time, "text"]`);
    atMs += seconds * 1000;
    yield { type: 'text', atMs, text };
  }
}
