import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/protocol/index.js';

test('bytes come back as they were', () => {
  for (const length of [0, 1, 2, 3, 4, 255, 4096]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 37) % 256);
    expect(Buffer.from(decodeBase64(encodeBase64(bytes), 'invalidData'))).toEqual(Buffer.from(bytes));
  }
});

test('one text stands for one sequence of bytes; every other is refused', () => {
  for (const text of [
    'A',
    'AA',
    'AAA',
    'AA=',
    'A===',
    'AB==',
    'AAB=',
    'AA==AA==',
    'A A=',
    'AAA\n',
    '-_-_',
    '====',
  ]) {
    expect(() => decodeBase64(text, 'invalidData')).toThrow('not valid base64');
  }
});
