import { describe, expect, test } from 'vitest';
import { historyCues, render } from '../../src/recording/index.js';
import { inTurn, joined, output, resize, start } from './make-history.js';

async function textOf(...pieces: string[]): Promise<string> {
  const entries = [start({ rows: 5, cols: 20 }), ...pieces.map((piece, index) => output(index, piece))];
  return await joined(render(historyCues(inTurn(entries)), 'text'));
}

describe('text', () => {
  test.each<[what: string, printed: string, expected: string]>([
    ['colours are gone', '\u001b[31mred\u001b[0m plain\r\n', 'red plain\n'],
    ['carriage returns overwrite', '10%\r20%\r100%\r\n', '100%\n'],
    ['backspace and erasing', 'abc\b\b\u001b[Kx\r\n', 'ax\n'],
    ['moving up', 'one\r\ntwo\r\n\u001b[2Auno\r\n\u001b[1B', 'uno\ntwo\n'],
    ['tabs', 'a\tb\r\n', 'a       b\n'],
    ['empty lines stay', 'a\r\n\r\n\r\nb\r\n', 'a\n\n\nb\n'],
    [
      'titles, clipboard, links',
      '\u001b]0;t\u0007\u001b]52;c;x\u0007\u001b]8;;http://x\u0007go\u001b]8;;\u0007',
      'go\n',
    ],
    ['erased screens stay', 'before\r\n\u001b[H\u001b[2J\u001b[3Jafter\r\n', 'before\nafter\n'],
    ['an editor leaves nothing', 'a\r\n\u001b[?1049h\u001b[Hediting\u001b[?1049lb\r\n', 'a\nb\n'],
    ['unless it never ends', 'a\r\n\u001b[?1049h\u001b[Hediting', 'a\nediting\n'],
    ['direction marks are gone', 'a\u202eb\u2066c\r\n', 'abc\n'],
  ])('%s', async (_, printed, expected) => {
    expect(await textOf(printed)).toBe(expected);
    expect(await textOf(...Array.from(printed))).toBe(expected);
  });

  test('lines that the screen broke are whole, at any length', async () => {
    const long = 'x'.repeat(300_000);
    expect(await textOf(`${long}\r\nshort\r\n`)).toBe(`${long}\nshort\n`);
  });

  test('no line is missing or double, however many leave the screen at once', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}`);
    expect(await textOf(`${lines.join('\r\n')}\r\n`)).toBe(`${lines.join('\n')}\n`);
    // Each screen is erased after it was filled.
    const screens = lines
      .slice(0, 9_000)
      .map((line, index) => (index % 3 === 2 ? `${line}\u001b[2J\u001b[H` : `${line}\r\n`));
    expect(await textOf(screens.join(''))).toBe(`${lines.slice(0, 9_000).join('\n')}\n`);
    // Nothing but line feeds.
    expect((await textOf(`${'\r\n'.repeat(30_000)}end`)).length).toBe(30_004);
  });

  test('a new size in between changes nothing', async () => {
    const lines = (from: number): string =>
      Array.from({ length: 100 }, (_, index) => `line ${from + index}\r\n`).join('');
    const entries = [
      start({ rows: 5, cols: 20 }),
      output(1, lines(0)),
      resize(2, 40, 10),
      output(3, lines(100)),
      resize(4, 15, 4),
      output(5, lines(200)),
    ];
    const text = await joined(render(historyCues(inTurn(entries)), 'text'));
    expect(text).toBe(Array.from({ length: 300 }, (_, index) => `line ${index}\n`).join(''));
  });
});
