import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../../src/contract/index.js';
import { castCues, historyCues, type RecordingFormat, render } from '../../src/recording/index.js';
import { end, inTurn, joined, listed, output, resize, START_MS, start } from './make-history.js';

function rendered(format: RecordingFormat, ...entries: HistoryEntry[]): Promise<string> {
  return joined(render(historyCues(inTurn(entries)), format));
}

/** Every line of an asciicast file must be JSON of its own. */
function parsed(file: string): unknown[] {
  expect(file.endsWith('\n')).toBe(true);
  return file
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

describe('asciicast', () => {
  const history = [
    start({ rows: 30, cols: 100 }),
    output(12, 'one\r\n'),
    resize(1500, 80, 24),
    output(2000, 'two'),
    end(2001, 3),
  ];

  test('version 2 has times since the beginning', async () => {
    expect(parsed(await rendered('asciicast', ...history))).toEqual([
      { version: 2, width: 100, height: 30, timestamp: START_MS / 1000 },
      [0.012, 'o', 'one\r\n'],
      [1.5, 'r', '80x24'],
      [2, 'o', 'two'],
    ]);
  });

  test('version 3 has times since the last event, and the exit code', async () => {
    expect(parsed(await rendered('asciicast-v3', ...history))).toEqual([
      { version: 3, term: { cols: 100, rows: 30 }, timestamp: START_MS / 1000 },
      [0.012, 'o', 'one\r\n'],
      [1.488, 'r', '80x24'],
      [0.5, 'o', 'two'],
      [0.001, 'x', '3'],
    ]);
  });

  test('our own files are read back as they were', async () => {
    const cues = await listed(historyCues(inTurn(history)));
    for (const format of ['asciicast', 'asciicast-v3'] as const) {
      const file = Buffer.from(await rendered(format, ...history));
      // Pieces that end anywhere.
      const pieces = Array.from({ length: Math.ceil(file.length / 7) }, (_, at) =>
        file.subarray(at * 7, at * 7 + 7),
      );
      const read = await listed(castCues(inTurn(pieces)));
      const rounded = read.map((cue) => ({ ...cue, atMs: Math.round(cue.atMs) }));
      expect(rounded).toEqual(cues.filter(({ type }) => format !== 'asciicast' || type !== 'exit'));
    }
  });

  test('characters torn between chunks are put together, other bytes are U+FFFD', async () => {
    const euro = Buffer.from('€');
    const file = await rendered(
      'asciicast',
      start(),
      output(0, euro.subarray(0, 1)),
      output(5, euro.subarray(1, 2)),
      output(9, euro.subarray(2)),
      output(10, Uint8Array.of(0xff, 0x41, 0xc3)),
      output(11, Uint8Array.of(0x42, 0xf0, 0x9f)),
    );
    expect(parsed(file).slice(1)).toEqual([
      [0.009, 'o', '€'],
      [0.01, 'o', '\ufffdA'],
      [0.011, 'o', '\ufffdB'],
      [0.011, 'o', '\ufffd'],
    ]);
  });

  test('two streams do not tear each other, and lines of pipes begin at the left', async () => {
    const euro = Buffer.from('€');
    const file = await rendered(
      'asciicast',
      start(null),
      output(1, Buffer.concat([Buffer.from('a\n'), euro.subarray(0, 2)]), 'stdout'),
      output(2, 'bad\n', 'stderr'),
      output(3, euro.subarray(2), 'stdout'),
    );
    expect(parsed(file)).toEqual([
      { version: 2, width: 80, height: 24, timestamp: START_MS / 1000 },
      [0.001, 'o', 'a\r\n'],
      [0.002, 'o', 'bad\r\n'],
      [0.003, 'o', '€'],
    ]);
  });

  test('lost output is visible in every format', async () => {
    const entries = [
      start(),
      output(1, '\u001b]0;a title that never ends'),
      { type: 'gap', timeMs: START_MS + 2, lostBytes: 12345 } as const,
      output(3, 'after'),
    ];
    const sentence = '12345 bytes of output were lost here';
    for (const format of ['text', 'html', 'svg', 'svg-animated'] as const)
      expect(await rendered(format, ...entries)).toContain(sentence);
    expect(await rendered('text', ...entries)).toContain('after');
    expect(parsed(await rendered('asciicast', ...entries))).toContainEqual([0.002, 'm', sentence]);
  });

  test('a file can be printed without doing anything to the terminal', async () => {
    const text = '\u001b]52;c;AAAA\u0007\u009b31m\u0085\u202e\u2066\u2028</script>\u007f';
    const file = await rendered('asciicast', start(), output(1, text));
    // eslint-disable-next-line no-control-regex
    expect(file.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e\u2066]/);
    expect(parsed(file)[1]).toEqual([0.001, 'o', text]);
  });

  test('a process that printed nothing, and one that never started', async () => {
    expect(parsed(await rendered('asciicast', start(), end(5)))).toHaveLength(1);
    expect(await rendered('text', start(), end(5))).toBe('');
    expect(await rendered('text')).toBe('');
    for (const format of ['svg', 'svg-animated'] as const) expect(await rendered(format)).toContain('</svg>');
  });
});
