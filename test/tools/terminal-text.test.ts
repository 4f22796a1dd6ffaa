import { describe, expect, test } from 'vitest';
import { incompleteCharacterBytes } from '../../src/tools/text/incomplete-character.js';
import { TerminalText } from '../../src/tools/text/terminal-text.js';

function fold(source: string, options: { piece?: number; maxLineChars?: number } = {}): string[] {
  const lines: string[] = [];
  const text = new TerminalText({
    maxLineChars: options.maxLineChars ?? 2048,
    emit: (line) => void lines.push(line),
  });
  const piece = options.piece ?? source.length;
  for (let at = 0; at < source.length; at += piece) text.write(source.slice(at, at + piece));
  const rest = text.end();
  return rest === null ? lines : [...lines, `${rest}<`];
}

const cases: [name: string, source: string, lines: string[]][] = [
  ['plain lines', 'one\ntwo\n', ['one', 'two']],
  ['lines of a terminal', 'one\r\ntwo\r\r\n', ['one', 'two']],
  ['a line that has begun', 'one\ntw', ['one', 'tw<']],
  ['a prompt keeps its blank', 'Password: ', ['Password: <']],
  ['colours', '\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\n', ['red and blue']],
  ['a progress bar', '\r 10%\r 50%\r100%\ndone\n', ['100%', 'done']],
  ['a bar that shrinks', '\rworking 10\x1b[K\rdone\x1b[K\n', ['done']],
  ['a shorter line over a longer one', 'abcdef\rxy\n', ['xycdef']],
  ['erased typing', 'lss\b \b -l\n', ['ls -l']],
  ['a title', '\x1b]0;title\x07text\x1b]2;other\x1b\\\n', ['text']],
  ['character sets and modes', '\x1b(B\x1b[?2004htext\x1b=\x1b[?25l\n', ['text']],
  ['cursor moves', 'abc\x1b[2DX\x1b[5GY\n', ['aXc Y']],
  ['deleted and inserted characters', 'abcdef\r\x1b[2Pgh\x1b[1@\n', ['gh ef']],
  ['a screen drawn by rows', '\x1b[H\x1b[2Jtop\x1b[2;3Hsecond\x1b[3;1Hthird', ['top', '  second', 'third<']],
  ['tabs', 'a\tb\n', ['a\tb']],
  ['bells and zeros', 'a\x07b\0c\n', ['abc']],
  ['a sequence that never ends', 'a\x1b[31\nb\n', ['a', 'b']],
  ['empty lines', '\n\r\n', ['', '']],
];

describe('terminal text', () => {
  test.each(cases)('%s', (_name, source, lines) => {
    expect(fold(source)).toEqual(lines);
  });

  test.each(cases)('%s, one character at a time', (_name, source, lines) => {
    expect(fold(source, { piece: 1 })).toEqual(lines);
  });

  test('caps long lines and says how much is missing', () => {
    expect(fold(`${'漢'.repeat(12)}\nshort\n`, { maxLineChars: 10 })).toEqual([
      `${'漢'.repeat(10)}…[2 more characters]`,
      'short',
    ]);
    expect(fold('x'.repeat(5000), { piece: 7, maxLineChars: 10 })).toEqual([
      'xxxxxxxxxx…[4990 more characters]<',
    ]);
  });

  test('hostile input costs little', () => {
    expect(fold(`${'\r'.repeat(500_000)}x\n`)).toEqual(['x']);
    expect(fold(`\x1b[999999999Cx\n`, { maxLineChars: 10 })[0]).toContain('more characters');
    expect(fold(`\x1b]${'x'.repeat(500_000)}\nend\n`, { piece: 1000 }).at(-1)).toBe('end');
    expect(fold('\x1b['.repeat(100_000))).toEqual([]);
  });
});

describe('the end of what has arrived', () => {
  test.each([
    ['complete text', 'abc', 0],
    ['complete character', '漢', 0],
    ['colour', 'a\x1b[31m', 0],
    ['begun colour', 'a\x1b[31', 4],
    ['lone escape', 'a\x1b', 1],
    ['begun title', '\x1b]0;tit', 7],
  ])('%s', (_name, text, unfinished) => {
    const live = new TerminalText({ maxLineChars: 100, emit: () => undefined });
    live.write(text);
    expect(live.unfinished.length).toBe(unfinished);
  });

  test.each([1, 2, 3])('%i of 4 bytes of a character', (count) => {
    const bytes = Buffer.concat([Buffer.from('a'), Buffer.from('😀').subarray(0, count)]);
    expect(incompleteCharacterBytes(bytes)).toBe(count);
  });

  test('bytes that are no character at all do not wait for ever', () => {
    expect(incompleteCharacterBytes(Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80]))).toBe(0);
    expect(incompleteCharacterBytes(Buffer.from([0xff]))).toBe(0);
  });
});
