import type { Cue, Cues } from './cue.js';

/** The size of a batch. Lines are short, and writing each on its own would be slow. */
const BATCH_CHARS = 64 * 1024;
/** Characters that are harmless in JSON, but not when the file is printed: C1 controls, line separators, bidi controls. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** An asciicast file: a header, then one line per event. */
export async function* asciicast(cues: Cues, version: 2 | 3): AsyncGenerator<string, void> {
  const line = version === 2 ? v2Lines() : v3Lines();
  let batch = '';
  for await (const cue of cues) {
    batch += line(cue);
    if (batch.length < BATCH_CHARS) continue;
    yield batch;
    batch = '';
  }
  if (batch !== '') yield batch;
}

/** Version 2: times count from the beginning, and there is no exit code. */
function v2Lines(): (cue: Cue) => string {
  return (cue) => {
    if (cue.type === 'exit') return '';
    if (cue.type !== 'start') return eventLine(cue.atMs, cue);
    const { cols: width, rows: height } = cue.size;
    return json({ version: 2, width, height, ...timestamp(cue) });
  };
}

/** Version 3: times count from the previous event. */
function v3Lines(): (cue: Cue) => string {
  let lastMs = 0;
  return (cue) => {
    const { cols, rows } = cue.type === 'start' ? cue.size : { cols: 0, rows: 0 };
    if (cue.type === 'start') return json({ version: 3, term: { cols, rows }, ...timestamp(cue) });
    const sinceMs = cue.atMs - lastMs;
    lastMs = cue.atMs;
    return eventLine(sinceMs, cue);
  };
}

function timestamp({ startedAtMs }: { startedAtMs: number | null }): { timestamp?: number } {
  return startedAtMs === null ? {} : { timestamp: Math.floor(startedAtMs / 1000) };
}

function eventLine(timeMs: number, cue: Exclude<Cue, { type: 'start' }>): string {
  const [code, data] = eventOf(cue);
  return `[${(timeMs / 1000).toFixed(3)}, "${code}", ${safeString(data)}]\n`;
}

function eventOf(cue: Exclude<Cue, { type: 'start' }>): [code: string, data: string] {
  switch (cue.type) {
    case 'text':
      return ['o', cue.text];
    case 'resize':
      return ['r', `${cue.size.cols}x${cue.size.rows}`];
    case 'mark':
      return ['m', cue.label];
    case 'exit':
      return ['x', String(cue.exitCode)];
  }
}

function json(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function safeString(text: string): string {
  return JSON.stringify(text).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
