import type { Cue } from './cue.js';
import { isObject, isSeconds, jsonOf, requireSize } from './cast-values.js';
import { damaged, fileLines, type NumberedLine } from './file-lines.js';
import { oldCast } from './old-cast.js';

/** Reads an asciicast file of any version. Events we do not need, such as typed input, are skipped. */
export async function* castCues(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Cue, void> {
  const lines = fileLines(bytes);
  const { done, value: first } = await lines.next();
  if (done) throw damaged(1, 'is missing: the file is empty');
  const header = jsonOf(first.text);
  // Version 1 is a single object, which may span many lines.
  if (!isObject(header) || header['version'] === 1) {
    yield* await oldCast(first, lines);
    return;
  }
  const { version } = header;
  if (version !== 2 && version !== 3) throw damaged(1, 'is not an asciicast header of version 1, 2 or 3');
  yield startOf(header, version);
  let atMs = 0;
  for await (const line of lines) {
    if (line.text.trim() === '' || line.text.startsWith('#')) continue;
    const [seconds, code, data] = eventOf(line);
    // In version 3, times count from the previous event. In version 2, some recorders let them run backwards a little.
    atMs = version === 3 ? atMs + seconds * 1000 : Math.max(atMs, seconds * 1000);
    const cue = cueOf({ atMs, code, data }, line.number);
    if (cue) yield cue;
  }
}

function startOf(header: Readonly<Record<string, unknown>>, version: 2 | 3): Cue {
  const { term } = header;
  const size = version === 2 ? [header['width'], header['height']] : sizeOfTerm(term);
  const { timestamp, idle_time_limit: idle } = header;
  return {
    type: 'start',
    atMs: 0,
    size: requireSize(size, 1),
    startedAtMs: typeof timestamp === 'number' && timestamp > 0 ? timestamp * 1000 : null,
    idleLimitMs: typeof idle === 'number' && idle > 0 ? idle * 1000 : null,
  };
}

function sizeOfTerm(term: unknown): [unknown, unknown] {
  return isObject(term) ? [term['cols'], term['rows']] : [undefined, undefined];
}

function eventOf({ number, text }: NumberedLine): [seconds: number, code: string, data: string] {
  const event = jsonOf(text);
  if (!Array.isArray(event)) throw damaged(number, 'is not an event: [time, "o", "text"]');
  const [seconds, code, data]: unknown[] = event;
  if (!isSeconds(seconds)) throw damaged(number, 'has no time that can be played');
  if (typeof code !== 'string' || typeof data !== 'string')
    throw damaged(number, 'is not an event: [time, "o", "text"]');
  return [seconds, code, data];
}

function cueOf(
  { atMs, code, data }: { atMs: number; code: string; data: string },
  line: number,
): Cue | undefined {
  switch (code) {
    case 'o':
      return { type: 'text', atMs, text: data };
    case 'r':
      return { type: 'resize', atMs, size: requireSize(data.split('x').map(Number), line) };
    case 'm':
      return { type: 'mark', atMs, label: data };
    case 'x':
      return { type: 'exit', atMs, exitCode: Number(data) || 0 };
    default:
      return undefined;
  }
}
