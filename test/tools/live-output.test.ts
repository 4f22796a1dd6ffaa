import { describe, expect, test } from 'vitest';
import { LiveOutput } from '../../src/tools/session/live-output.js';
import { selectLines } from '../../src/tools/session/line-selection.js';
import { outputLines } from '../../src/tools/session/output-lines.js';
import { viewOutput } from '../../src/tools/session/output-view.js';
import { sessionLines } from '../../src/tools/session/session-lines.js';
import { Transcript } from '../../src/tools/session/transcript.js';
import { byteTokenizer } from '../../src/tools/index.js';
import { seededRandom } from '../harness/random.js';
import { TestTools } from './harness.js';

const settings = { maxLineChars: 40, tokenizer: byteTokenizer };
const view = { ...settings, raw: false };
const words = [
  'plain',
  '漢字',
  '😀',
  '\r\n',
  '\n',
  '\rover',
  '\x1b[31m',
  '\x1b[K',
  '\x1b[2;5H',
  'x'.repeat(60),
  'same\n'.repeat(15),
];

function randomness(seed: number) {
  const next = seededRandom(seed);
  const integer = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return { integer, pick: (from: readonly string[]): string => from[integer(0, from.length - 1)] ?? '' };
}

describe('output rendered as it arrives', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('shows what rendering it afterwards would show (%i)', async (seed) => {
    const random = randomness(seed);
    const live = new LiveOutput({ ...settings, viewTokens: 50 });
    const transcript = new Transcript();
    const source = Buffer.from(Array.from({ length: 400 }, () => random.pick(words)).join(''));
    let cursor = 0;
    for (let at = 0; at < source.length; ) {
      const piece = source.subarray(at, at + random.integer(1, 30));
      at += piece.length;
      live.append(piece);
      await transcript.append(piece);
      if (random.integer(0, 9) > 0) continue;
      const to = live.readableEnd({ raw: false });
      const maxTokens = random.integer(0, 50);
      const afterwards = await viewOutput(transcript, { ...view, maxTokens, from: cursor, to });
      expect(live.take(maxTokens)).toEqual(afterwards);
      cursor = to;
    }
  });

  test('a larger budget than was kept for is an honest no', () => {
    const live = new LiveOutput({ ...settings, viewTokens: 10 });
    live.append(Buffer.from('short\n'));
    expect(live.take(1000)?.text).toBe('short\n');
    live.append(Buffer.from(Array.from({ length: 100 }, (_, index) => `long ${index}\n`).join('')));
    expect(live.take(1000)).toBe(null);
    expect(live.take(10)?.text).toBe('');
  });

  test('needs nothing of what the spool could not keep', async () => {
    await using tools = new TestTools({ spoolParent: '/no/such/directory' });
    const report = await tools.exec('seq 1 300000', {
      tty: false,
      yield_time_ms: 60_000,
      max_output_tokens: 16,
    });
    expect(report.output).toMatch(/^1\n2\n[\s\S]*\n…\d+ tokens truncated…\n[\s\S]*300000\n$/);
    expect(report.original_token_count).toBe(Math.ceil(1_988_895 / 4));
  });

  test('output that comes while a larger view is read belongs to the next one', async () => {
    await using tools = new TestTools();
    const script = 'seq 1 200000; echo; echo marker; read x; echo "after $x"';
    const { session_id } = await tools.exec(script, { yield_time_ms: 0, max_output_tokens: 0 });
    await tools.report('wait_for', { session_id, needs_input: true, max_output_tokens: 1_000_000 });
    const end = await tools.report('write_stdin', { session_id, chars: 'that\n', yield_time_ms: 60_000 });
    expect(end.output).toBe('that\nafter that\n');
  });
});

/** Counts what is read of it. */
class CountingTranscript extends Transcript {
  bytesRead = 0;

  override async *read(from: number, to = this.end) {
    for await (const piece of super.read(from, to)) {
      if (piece.kind === 'bytes') this.bytesRead += piece.bytes.length;
      yield piece;
    }
  }
}

describe('lines found by number', () => {
  test('are those a reading from the beginning finds, at a fraction of it', async () => {
    const live = new LiveOutput({ ...settings, viewTokens: 10 });
    const transcript = new CountingTranscript();
    const total = 200_000;
    for (let line = 1; line <= total; line += 1000) {
      const lines = Array.from(
        { length: 1000 },
        (_, index) => `\x1b[32m${line + index}\x1b[0m 漢字 and more`,
      );
      const bytes = Buffer.from(`${lines.join('\r\n')}\r\n`);
      live.append(bytes);
      await transcript.append(bytes);
    }
    const bytes = transcript.end;
    expect(live.lineCount).toBe(total);
    for (const from of [1, 2, 9999, 54_321, 123_456, total]) {
      transcript.bytesRead = 0;
      const { batches, ...place } = await sessionLines({ live, transcript }, { ...view, from });
      const query = { ...place, to: from + 1, matches: null, context: 0 };
      const selection = selectLines(batches, query);
      const found: number[] = [];
      for await (const lines of selection.batches)
        found.push(...lines.map(({ text }) => Number.parseInt(text)));
      expect(found).toEqual(from === total ? [from] : [from, from + 1]);
      expect(selection.totals.lines).toBe(total);
      expect(transcript.bytesRead).toBeLessThan(bytes / 8);
    }
    await transcript.remove();
  });

  test('a last line that has only begun counts, and the index agrees with the output', async () => {
    const random = randomness(99);
    const live = new LiveOutput({ ...settings, viewTokens: 10 });
    const transcript = new Transcript();
    for (let round = 0; round < 300; round += 1) {
      const piece = Buffer.from(random.pick(words).repeat(random.integer(1, 200)));
      live.append(piece);
      await transcript.append(piece);
    }
    let count = 0;
    for await (const { lines } of outputLines(transcript, { ...view, from: 0, to: transcript.end })) {
      count += lines.length;
    }
    expect(live.lineCount).toBe(count);
    const tail = await sessionLines({ live, transcript }, { ...view, from: 1, tail: 3 });
    expect({ from: tail.from, total: tail.total }).toEqual({ from: count - 2, total: count });
    await transcript.remove();
  });
});
