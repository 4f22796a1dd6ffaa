import { expect, test } from 'vitest';
import { HarmlessText } from '../../src/cli/terminal/harmless-text.js';
import { LastLines } from '../../src/cli/terminal/last-lines.js';
import { seededRandom } from '../harness/random.js';
import { tally, tries } from './tally.js';

const MIB = 1024 * 1024;
/** Anything a terminal might take for more than text, once colours are taken away. */
// eslint-disable-next-line no-control-regex
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;:]*m/g;

function filtered(pieces: Iterable<Uint8Array>): string {
  const text = new HarmlessText();
  let shown = '';
  for (const piece of pieces) shown += text.take(piece);
  return shown + text.end();
}

function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([
  ['the clipboard', '\u001b]52;c;aGFoYQ==\u0007x', 'x'],
  ['a question about settings', '\u001bP$q"p\u001b\\x', 'x'],
  ['the title, and a request for it', '\u001b]0;rm -rf /\u0007\u001b[21tx', 'x'],
  ['eight-bit controls', '\u009b6n\u009d52;c;aGk=\u009cx', '6n52;c;aGk=x'],
  ['a sequence in a sequence', '\u001b]0;a\u001b]52;c;b\u001b[6n\u0007x', 'x'],
  ['a sequence in pieces of another', '\u001b[\u001b[6n6nx', '6nx'],
  ['escapes in front of text', '\u001b\u001b\u001bcx\u001b\u001b[31my', 'x\u001b[31my\u001b[0m'],
  ['a cancelled sequence', '\u001b]0;a\u0018x\u001b[3\u001ay', 'xy'],
  ['an escape before a control character', 'a\u001b\u0001b\u001b\nc\u001b[1\nd', 'ab\nc\nd'],
  ['text behind the start of a sequence that never ends', '\u001b]0;all the rest\n', ']0;all the rest\n'],
  ['keyboard modes that look like colours', '\u001b[>4;2mx\u001b[?1mx', 'xx'],
  ['an invisible prompt afterwards', 'a\u001b[8m', 'a\u001b[8m\u001b[0m'],
  ['colours that end', '\u001b[31ma\u001b[m', '\u001b[31ma\u001b[m'],
])('%s', (_, hostile, shown) => {
  const bytes = Buffer.from(hostile);
  for (let size = 1; size <= bytes.length; size += 1) expect(filtered(piecesOf(bytes, size))).toBe(shown);
});

test('what is too long for a sequence is shown whole', () => {
  const numbers = '1;'.repeat(40_000);
  expect(filtered([Buffer.from(`\u001b[${numbers}mx`)])).toBe(`[${numbers}mx`);
});

test('overlong and broken UTF-8 make no control characters', () => {
  const overlong = Buffer.from([0xc0, 0x9b, 0x5b, 0x36, 0x6e, 0xe0, 0x80, 0x9b, 0x5b, 0x36, 0x6e, 0xc2]);
  expect(DANGEROUS.test(filtered(piecesOf(overlong, 1)))).toBe(false);
  expect(DANGEROUS.test(filtered([overlong, Buffer.from([0x9b])]))).toBe(false);
});

test('no mixture of what sequences consist of gets through', () => {
  const TRIES = tries(20_000);
  const parts = [
    '\u001b',
    '[',
    ']',
    'P',
    '\\',
    '\u0007',
    '\u009b',
    '\u009c',
    '\u0018',
    '6n',
    '31m',
    ';',
    '?',
    '\n',
    'é',
  ];
  const random = seededRandom(16);
  let successes = 0;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const hostile = Array.from({ length: 12 }, () => parts[Math.floor(random() * parts.length)]).join('');
    const size = 1 + Math.floor(random() * 8);
    const shown = filtered(piecesOf(Buffer.from(hostile), size));
    if (DANGEROUS.test(shown.replaceAll(COLOURS, ''))) successes += 1;
  }
  tally('output that does more than show text', { tries: TRIES, successes });
  expect(successes).toBe(0);
});

// A filter that reads what it has over and over takes minutes for each.
test.each([
  ['escapes', '\u001b'],
  ['beginnings of text for the terminal', '\u001b]'],
  ['beginnings of control sequences', '\u001b[1;'],
  ['text for the terminal that never ends', `\u001b]${'x'.repeat(60_000)}`],
  ['parameters that never end', `\u001b[${'1;'.repeat(30_000)}`],
])('four megabytes of %s, byte by byte', { timeout: 20_000 }, (_, unit) => {
  const bytes = Buffer.from(unit.repeat(Math.ceil((4 * MIB) / unit.length)));
  const shown = filtered(piecesOf(bytes, 1));
  expect(DANGEROUS.test(shown)).toBe(false);
});

test('lines that never end, and no lines at all, cost what is asked for', () => {
  const [none, one] = [new LastLines(0), new LastLines(1)];
  for (let count = 0; count < 1000; count += 1) {
    none.add('a\nb');
    one.add('x'.repeat(10_000));
  }
  expect(none.text()).toBe('');
  expect(one.text()).toHaveLength(64 * 1024);
});
