import type { ExecProcess } from '../../../src/contract/index.js';
import { asciicast } from '../../../src/recording/asciicast.js';
import { castCues } from '../../../src/recording/cast-file.js';
import type { Cue } from '../../../src/recording/cue.js';
import { historyCues } from '../../../src/recording/history-cues.js';

/** What the page holds of a recording. Longer ones are cut, and say so. */
const MAX_CHARS = 64 * 1024 * 1024;

/** A recording in memory, in order. */
export interface Recording {
  readonly cues: readonly Cue[];
  readonly durationMs: number;
  readonly size: { readonly rows: number; readonly cols: number };
  readonly isCut: boolean;
}

export async function recordingOf(child: ExecProcess): Promise<Recording> {
  return await collect(historyCues(child.history()));
}

/** Reads an asciicast file of any version. */
export async function recordingFrom(file: Blob): Promise<Recording> {
  return await collect(castCues(piecesOf(file)));
}

/** The same as a file of the format that asciinema plays. */
export async function* castFile({ cues }: Recording): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  for await (const text of asciicast(each(cues), 2)) yield encoder.encode(text);
}

async function* each(cues: readonly Cue[]): AsyncGenerator<Cue, void> {
  yield* cues;
}

async function* piecesOf(file: Blob): AsyncGenerator<Uint8Array, void> {
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function collect(source: AsyncIterable<Cue>): Promise<Recording> {
  const cues: Cue[] = [];
  let chars = 0;
  let isCut = false;
  for await (const cue of source) {
    if (cue.type === 'text') chars += cue.text.length;
    if (chars > MAX_CHARS) {
      isCut = true;
      break;
    }
    cues.push(cue);
  }
  const start = cues[0]?.type === 'start' ? cues[0] : null;
  return {
    cues,
    durationMs: cues.at(-1)?.atMs ?? 0,
    size: start?.size ?? { rows: 24, cols: 80 },
    isCut,
  };
}

/** Text printed at a time that contains something, without colours. */
export function momentsOf({ cues }: Recording, wanted: string): number[] {
  const needle = wanted.toLowerCase();
  let tail = '';
  const found: number[] = [];
  for (const cue of cues) {
    if (cue.type !== 'text') continue;
    // oxlint-disable-next-line no-control-regex -- these are what it is about
    const text = cue.text.replaceAll(/\u001b\[[0-9;?]*[@-~]/g, '').toLowerCase();
    if ((tail + text).includes(needle)) found.push(cue.atMs);
    tail = text.slice(-needle.length + 1 || undefined);
  }
  return found;
}
