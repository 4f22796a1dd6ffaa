import { describe, expect, test } from 'vitest';
import { LinePattern, matchingLines } from '../../src/lines/index.js';
import { type PatternOptions } from '../../src/lines/line-pattern.js';

function found(pattern: string, lines: readonly string[], options: Partial<PatternOptions> = {}) {
  return matchingLines(new LinePattern({ pattern, regex: true, exact: true, ...options }), lines);
}

describe('lines of text', () => {
  test('are found by their place', async () => {
    const lines = ['one', '', 'two', 'three', 'Zwölf'];
    expect(await found('^t', lines)).toEqual([2, 3]);
    expect(await found('^$', lines)).toEqual([1]);
    expect(await found('e$|ölf$', lines)).toEqual([0, 3, 4]);
    expect(await found('^', lines)).toEqual([0, 1, 2, 3, 4]);
    expect(await found('twothree|two.three', lines)).toEqual([]);
    expect(await found('x', [])).toEqual([]);
  });

  test('are the same in any number of blocks', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `${index} ${'x'.repeat(index % 50)}`);
    lines[20_000] = `first ${'y'.repeat(300_000)} last`;
    lines[20_001] = 'last';
    const wanted = /^(?:\d*77 |first.*last$|last)/;
    const expected = lines.flatMap((line, index) => (wanted.test(line) ? [index] : []));
    expect(expected).toContain(20_000);
    expect(await found(wanted.source, lines)).toEqual(expected);
  });

  test('count as they are if that is wanted', async () => {
    const lines = ['\u001b[31mred\u001b[0m\r', 'red'];
    expect(await found('^red$', lines)).toEqual([1]);
    expect(await found('\\[31mred', lines)).toEqual([0]);
    expect(await found('\\r$', lines)).toEqual([0]);
    expect(await found('^red$', lines, { exact: false })).toEqual([0, 1]);
  });

  test('leave the event loop to others, and can be given up', async () => {
    const lines = Array.from({ length: 100 }, () => 'ab'.repeat(50_000));
    const stopper = new AbortController();
    const search = matchingLines(
      new LinePattern({ pattern: '(.*b){12}c', regex: true }),
      lines,
      stopper.signal,
    );
    setImmediate(() => stopper.abort());
    await expect(search).rejects.toMatchObject({ code: 'aborted' });
  });
});
