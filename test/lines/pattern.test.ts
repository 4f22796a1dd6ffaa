import { describe, expect, test } from 'vitest';
import { LinePattern } from '../../src/lines/index.js';
import { type PatternOptions } from '../../src/lines/line-pattern.js';
import { seededRandom } from '../harness/random.js';

/** Whether one line matches, given in pieces of some size. */
function matches(options: PatternOptions, line: string | Uint8Array, pieceBytes = 1000): boolean {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  const scan = new LinePattern(options).scan();
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const piece = bytes.subarray(from, from + pieceBytes);
    for (let at = 0; at < piece.length; at = scan.at) {
      const stop = scan.run(piece, at);
      if (stop === 'match') return true;
      if (stop === 'end') break;
    }
  }
  return scan.matchesAtEnd();
}

const regex = (pattern: string): PatternOptions => ({ pattern, regex: true });

describe('what a pattern matches', () => {
  test.each<[string, string, boolean]>([
    ['a.c', 'xabcx', true],
    ['^abc$', 'abc', true],
    ['^abc$', 'abcd', false],
    ['colou?r', 'the color', true],
    ['(foo|bar)+baz', 'foobarbaz', true],
    ['(foo|bar)+baz', 'fobaz', false],
    ['[0-9]{3}-[0-9]{2,}', 'call 555-1', false],
    ['[0-9]{3}-[0-9]{2,}', 'call 555-12', true],
    ['\\bcat\\b', 'concatenate', false],
    ['\\bcat\\b', 'the cat.', true],
    ['\\Bcat', 'concat', true],
    ['[^x]z', 'xz', false],
    ['grün', 'alles grün', true],
    ['gr.n$', 'alles grün', true],
    ['^..$', 'é', false],
    ['[à-ü]x', 'éx', true],
    ['\\u{1f600}', 'hello 😀', true],
    ['^$', '', true],
    ['^\\s*$', '  \t', true],
    ['a{0}b', 'b', true],
    ['(?:a|)b', 'b', true],
    ['(?<name>a)b', 'ab', true],
    ['a{', 'a{', true],
    ['[]]', ']', false],
    ['x*?y', 'xxy', true],
    ['[^é]$', 'aé', false],
    ['[^\\D]', 'é日😀', false],
    ['\\B', 'a\u2013b', false],
    ['\\B', '日', true],
    ['\\ud83d\\ude00', 'hello 😀', true],
    ['[\\ud83d\\ude00]x', '😀x', true],
  ])('%s in %s: %s', (pattern, line, expected) => {
    expect(matches(regex(pattern), line)).toBe(expected);
    expect(matches(regex(pattern), line, 1)).toBe(expected);
    if (pattern !== '[]]')
      expect(new RegExp(pattern, /\\u/.test(pattern) ? 'u' : '').test(line)).toBe(expected);
  });

  test('without case', () => {
    expect(matches({ pattern: 'Straße', caseSensitive: false }, 'eine straße')).toBe(true);
    expect(matches({ pattern: 'ÜBER', caseSensitive: false }, 'über')).toBe(true);
    expect(matches({ pattern: '[a-f]+X', regex: true, caseSensitive: false }, 'CAFEx')).toBe(true);
    expect(matches({ pattern: 'error' }, 'ERROR')).toBe(false);
  });

  test('plain text has no special characters', () => {
    expect(matches({ pattern: 'a.c(' }, 'xa.c(')).toBe(true);
    expect(matches({ pattern: 'a.c' }, 'abc')).toBe(false);
  });

  test('colours and titles are not part of a line', () => {
    const line = '\u001b]0;title\u0007\u001b[1;31mer\u001b[0mror\u001b(B: x\r\r';
    for (const size of [1, 3, 1000]) {
      expect(matches(regex('^error: x$'), line, size)).toBe(true);
      expect(matches(regex('title'), line, size)).toBe(false);
      expect(matches(regex('\\x1b\\[0m'), line, size)).toBe(true);
    }
  });

  test('bytes that are not text', () => {
    const line = Buffer.concat([Buffer.from('a'), Buffer.from([0xff, 0x00, 0x80]), Buffer.from('b')]);
    expect(matches(regex('^a.*b$'), line)).toBe(true);
    expect(matches(regex('^a...b$'), line)).toBe(true);
    for (const end of [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98]]) {
      const broken = Buffer.concat([Buffer.from('a'), Buffer.from(end), Buffer.from('b')]);
      for (const size of [1, 1000]) {
        expect(matches(regex('b'), broken, size)).toBe(true);
        expect(matches(regex('[^a]'), broken, size)).toBe(true);
        expect(matches(regex('$'), broken.subarray(0, -1), size)).toBe(true);
      }
    }
  });

  test.each([
    '(a',
    'a)',
    '*a',
    'a{2,1}',
    'a{5000}',
    '[b-a]',
    '[a',
    '\\1',
    '(?=a)',
    '(?<!a)b',
    '\\p{L}',
    '\\',
    '',
  ])('%s is refused', (pattern) => {
    expect(() => new LinePattern(regex(pattern))).toThrowError(
      expect.objectContaining({ code: 'invalidParams' }),
    );
  });

  test.each([
    ['(?=a)', 'it uses look-around, which is not supported. Search for the text itself'],
    ['(?<!a)b', 'it uses look-around, which is not supported. Search for the text itself'],
    ['(?i)a', '`(?i` is not supported. Write `[aA]` for either case'],
    ['(?>a)', '`(?>` is not supported. Use `(?:` for a group without a name'],
    ['(a)\\1', '`\\1` refers back to a group, which is not supported. Write it out'],
    ['(?<n>a)\\k<n>', '`\\k` refers back to a group, which is not supported. Write it out'],
    ['\\p{L}', '`\\p` is not supported. Use a set such as `[a-zà-ÿ]` instead'],
    ['\\Astart', '`\\A` is not supported. Leave out the backslash if you mean the letter'],
  ])('%s: %s', (pattern, why) => {
    expect(() => new LinePattern(regex(pattern))).toThrow(`The pattern cannot be used: ${why}.`);
  });

  test('what people write to see some text around a match is not too large', () => {
    for (const pattern of ['.{0,200}error.{0,200}', '^.{450}', '\\S{160}', '[^"]{0,400}'])
      expect(matches(regex(pattern), `${'ü'.repeat(500)}error`)).toBe(true);
    expect(matches(regex('^.{450}'), 'ü'.repeat(449))).toBe(false);
  });

  test('one that would be enormous is refused', () => {
    expect(() => new LinePattern(regex('((a{100}){100}){100}'))).toThrow(/too large/);
    expect(() => new LinePattern(regex('('.repeat(400)))).toThrow(/nested/);
  });

  test('agrees with JavaScript on random patterns', () => {
    const random = seededRandom(7);
    const below = (limit: number): number => Math.floor(random() * limit);
    const pick = (from: string): string => from[below(from.length)] ?? '';
    const atom = (depth: number): string => {
      const kind = below(depth > 3 ? 4 : 6);
      if (kind === 4) return `(${choice(depth + 1)})`;
      if (kind === 5) return `(?:${choice(depth + 1)})`;
      return [pick('abc'), '.', pick('abc') + pick('abc'), `[${pick(' ^')}${pick('abc')}-c]`][kind] ?? 'a';
    };
    const part = (depth: number): string => {
      const edge = below(12);
      if (edge < 4) return ['^', '$', '\\b', '\\B'][edge] ?? '';
      return atom(depth) + (['', '', '*', '+', '?', '{2}', '{1,3}', '{2,}'][below(8)] ?? '');
    };
    const choice = (depth: number): string =>
      Array.from({ length: 1 + below(2) }, () =>
        Array.from({ length: below(4) }, () => part(depth)).join(''),
      ).join('|');
    for (let round = 0; round < 3000; round += 1) {
      const pattern = choice(0) || 'a';
      if (pattern.length > 60) continue;
      const line = Array.from({ length: below(9) }, () => pick('abcd -')).join('');
      const expected = new RegExp(pattern).test(line);
      expect([pattern, line, matches(regex(pattern), line, 1 + below(4))]).toEqual([pattern, line, expected]);
    }
  });

  test('hard patterns for engines that backtrack take no longer than others', () => {
    const line = Buffer.alloc(100_000, 'a');
    const started = process.cpuUsage();
    for (const pattern of ['(a+)+$b', '(a|aa)+$b', '(.*a){12}b', '(a?){30}a{30}b'])
      expect(matches(regex(pattern), line)).toBe(false);
    const { user } = process.cpuUsage(started);
    expect(user).toBeLessThan(5_000_000);
  });
});
