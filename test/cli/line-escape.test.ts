import { expect, test } from 'vitest';
import { LineEscape } from '../../src/cli/line-escape.js';
import { collectVariable, parseDuration } from '../../src/cli/option-values.js';

/** What is passed on of a sequence of key presses, and whether they leave. */
function typed(...chunks: string[]): { pass: string; left: boolean } {
  const escape = new LineEscape();
  const taken = chunks.map((chunk) => escape.take(Buffer.from(chunk)));
  return {
    pass: taken.map(({ pass }) => Buffer.from(pass).toString()).join(''),
    left: taken.some(({ left }) => left),
  };
}

test('~. leaves at the beginning of a line only, in one piece or key by key', () => {
  expect(typed('~.')).toEqual({ pass: '', left: true });
  expect(typed('ls\r', '~', '.')).toEqual({ pass: 'ls\r', left: true });
  expect(typed('cd ~', './x')).toEqual({ pass: 'cd ~./x', left: false });
  expect(typed('\r~/bin\r')).toEqual({ pass: '\r~/bin\r', left: false });
  expect(typed('\r~~.')).toEqual({ pass: '\r~.', left: false });
});

test('times and variables are read as people write them', () => {
  expect(['500ms', '30s', '1.5m', '2h', '7'].map(parseDuration)).toEqual([
    500, 30_000, 90_000, 7_200_000, 7000,
  ]);
  for (const wrong of ['', '0', '-1', '5d', 'soon']) expect(() => parseDuration(wrong)).toThrow('time');
  expect(collectVariable('A=b=c', { X: 'y' })).toEqual({ X: 'y', A: 'b=c' });
  expect(collectVariable('NOT_SET_ANYWHERE', {})).toEqual({});
  expect(() => collectVariable('=x', {})).toThrow('NAME');
});
