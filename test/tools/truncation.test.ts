import { describe, expect, test } from 'vitest';
import { BudgetedText, type Tokenizer, truncateMiddle } from '../../src/tools/index.js';

const numbered = Array.from({ length: 20 }, (_, index) => `${String(index + 1).padStart(3, '0')}\n`);

describe('truncation', () => {
  test('keeps whole lines of both ends', () => {
    expect(truncateMiddle(numbered.join(''), 64)).toEqual({
      text: [...numbered.slice(0, 4), '…12 tokens truncated…\n', ...numbered.slice(16)].join(''),
      truncated: true,
      originalTokens: 20,
    });
  });

  test('gives the bare marker when nothing fits beside it', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
    expect(truncateMiddle(letters, 16)).toEqual({
      text: '…16 tokens truncated…',
      truncated: true,
      originalTokens: 16,
    });
    expect(truncateMiddle(letters, 0).text).toBe('…16 tokens truncated…');
  });

  test('leaves alone what fits', () => {
    expect(truncateMiddle('short\n', 6)).toEqual({ text: 'short\n', truncated: false, originalTokens: 2 });
    expect(truncateMiddle('', 0)).toEqual({ text: '', truncated: false, originalTokens: 0 });
  });

  test('puts the marker on its own line where there are no lines to keep', () => {
    const { text } = truncateMiddle('x'.repeat(1000), 60);
    expect(text).toMatch(/^x+\n…\d+ tokens truncated…\nx+$/);
  });

  test.each([
    ['lines', Array.from({ length: 300 }, (_, index) => `line ${index} äöü 漢字\n`).join('')],
    ['one line', '漢字😀é'.repeat(200)],
    ['no line end at the end', `${'a\n'.repeat(200)}the end`],
    ['one long line last', `a\n${'😀'.repeat(300)}`],
    ['empty lines', '\n'.repeat(500)],
  ])('never exceeds a budget, splits no character and counts what is gone: %s', (_name, source) => {
    const total = Buffer.byteLength(source);
    for (let maxBytes = 0; maxBytes < total; maxBytes += 7) {
      const { text, originalTokens } = truncateMiddle(source, maxBytes);
      expect(text).not.toContain('\ufffd');
      const marker = /…(\d+) tokens truncated…/.exec(text);
      if (text !== marker?.[0]) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      const [prefix = '', suffix = ''] = text.split(marker?.[0] ?? '');
      const head = source.startsWith(prefix) ? prefix : prefix.slice(0, -1);
      const tail = suffix.slice(1);
      expect(source.startsWith(head) && source.endsWith(tail)).toBe(true);
      const removed = total - Buffer.byteLength(head) - Buffer.byteLength(tail);
      expect(marker?.[1]).toBe(String(Math.ceil(removed / 4)));
      expect(originalTokens).toBe(Math.ceil(total / 4));
    }
  });

  test('gives the same for a text in pieces as for a whole one', () => {
    const source = Array.from({ length: 2000 }, (_, index) => `${index} 漢字\n`).join('');
    for (const size of [1, 17, 1000, source.length]) {
      const pieces = new BudgetedText({ maxTokens: 100 });
      const characters = Array.from(source);
      for (let at = 0; at < characters.length; at += size)
        pieces.append(characters.slice(at, at + size).join(''));
      expect(pieces.finish()).toEqual(truncateMiddle(source, 400));
    }
  });

  test('obeys a tokenizer that is plugged in', () => {
    const words: Tokenizer = {
      count: (text) => text.split(/\s+/).filter((word) => word !== '').length,
      maxBytesPerToken: 16,
    };
    const text = new BudgetedText({ maxTokens: 20, tokenizer: words });
    for (let index = 0; index < 1000; index += 1) text.append(`word${index}\n`);
    const { text: cut, truncated, originalTokens } = text.finish();
    expect({ truncated, originalTokens }).toEqual({ truncated: true, originalTokens: 1000 });
    const removed = Number(/…(\d+) tokens truncated…/.exec(cut)?.[1]);
    const kept = cut.split('\n').filter((line) => line.startsWith('word')).length;
    expect(kept).toBeGreaterThan(5);
    expect(words.count(cut)).toBeLessThanOrEqual(20);
    expect(removed + kept).toBe(1000);
  });
});
