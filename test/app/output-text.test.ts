import { expect, test } from 'vitest';
import { outputText } from '../../src/app/output-text.js';

const bytes = (...values: (number | string)[]): Uint8Array =>
  Buffer.concat(values.map((value) => Buffer.from(typeof value === 'string' ? value : [value])));

test.each([
  ['plain text', bytes('abc'), false, 'abc'],
  ['UTF-8', bytes('é€😀'), false, 'é€😀'],
  ['a byte order mark', bytes(0xef, 0xbb, 0xbf, 'x'), false, '\uFEFFx'],
  ['nothing', bytes(), true, ''],
  ['broken bytes among UTF-8', bytes('é', 0xff, 'x'), false, 'é\uFFFDx'],
  ['an 8-bit alphabet', bytes('na', 0xef, 've'), false, 'naïve'],
  ['a cut 8-bit alphabet', bytes('a', 0xff), true, 'aÿ'],
  ['an 8-bit alphabet that ends like the start of a sequence', bytes('abc', 0xc3), false, 'abcÃ'],
])('%s', (_, input, cut, text) => {
  expect(outputText(input, { cut })).toBe(text);
});

test('a cut anywhere in UTF-8 costs one character at most', () => {
  const text = 'aé€😀z';
  const whole = Buffer.from(text);
  for (let length = 0; length <= whole.length; length += 1) {
    const decoded = outputText(whole.subarray(0, length), { cut: true });
    const kept = decoded.endsWith('\uFFFD') ? decoded.slice(0, -1) : decoded;
    expect(text.startsWith(kept)).toBe(true);
    expect(length - Buffer.byteLength(kept)).toBeLessThan(4);
  }
});
