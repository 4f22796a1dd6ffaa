import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countNewlines, type OutputLine, ProcessLog } from '../../src/contract/index.js';
import { readLogLines, type SearchableLog, searchLog } from '../../src/lines/index.js';
import { Spool, type SpoolOptions } from '../../src/spool/index.js';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';

const KIB = 1024;
const exit = { exitCode: 0, signal: null, timedOut: false, sandboxDenied: false } as const;

interface Printed {
  readonly log: ProcessLog;
  readonly spool: Spool;
  /** Everything that was printed. */
  text: string;
}

/** A log that keeps 4 KiB in memory and the rest on disk. */
function spooled(folder: TestFolder, options: Partial<SpoolOptions> = {}): Printed {
  const spool = new Spool({ directory: folder.file('spool'), ...options });
  const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
  const log = new ProcessLog({ retainedBytes: 4 * KIB, archive, onEvicted: (bytes) => bytes.fill(0x0a) });
  return { log, spool, text: '' };
}

function inMemory(): Printed & { spool: never } {
  const log = new ProcessLog({ retainedBytes: 4 * KIB, onEvicted: (bytes) => bytes.fill(0x0a) });
  return { log, text: '' } as Printed & { spool: never };
}

function print(printed: Printed, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
  printed.text += text;
  printed.log.appendOutput(stream, Buffer.from(text));
}

/** Prints numbered lines in chunks that do not end where lines do. */
function printLines(printed: Printed, count: number, { seed = 1, end = '\n' } = {}): void {
  const random = seededRandom(seed);
  const first = printed.text.split('\n').length;
  let all = '';
  for (let index = 0; index < count; index += 1)
    all += `line ${first + index} ${'x'.repeat(Math.floor(random() * 80))}${end}`;
  for (let at = 0; at < all.length; ) {
    const length = 1 + Math.floor(random() * random() * 3000);
    print(printed, all.slice(at, at + length));
    at += length;
  }
}

const numbered = (lines: readonly OutputLine[]): string[] => lines.map(({ line, text }) => `${line}:${text}`);
/** What the answers should be. */
function expected(text: string, keep: (line: string) => boolean = () => true): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines
    .map((line, index) => `${index + 1}:${line.replace(/\r+$/, '')}`)
    .filter((_, i) => keep(lines[i] ?? ''));
}

async function allMatches(
  log: SearchableLog,
  request: Parameters<typeof searchLog>[1],
): Promise<OutputLine[]> {
  const found: OutputLine[] = [];
  for (
    let page = await searchLog(log, request);
    ;
    page = await searchLog(log, { ...request, cursor: page.cursor })
  ) {
    found.push(...page.matches);
    if (page.atEnd) return found;
  }
}

describe('lines of a log', () => {
  test.each(['memory and disk', 'stored'])('%s: any range, from the start or the end', async (where) => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 3000);
    print(printed, 'an open end');
    printed.log.appendExited(exit);
    printed.log.appendClosed();
    const log = where === 'stored' ? await printed.spool.find({ owner: 'me', processId: 'p' }) : printed.log;
    if (!log) throw new Error('nothing is stored');
    const all = expected(printed.text);
    for (const [from, to] of [
      [1, 10],
      [1500, 1510],
      [2990, 5000],
      [-5, -1],
      [-1, -1],
      [-3001, 2],
      [3001, 3001],
    ] as const) {
      const page = await readLogLines(log, { from, to });
      const first = from < 0 ? all.length + from : from - 1;
      const last = to < 0 ? all.length + to : to - 1;
      expect(numbered(page.lines)).toEqual(all.slice(first, last + 1));
      expect(page).toMatchObject({ totalLines: 3001, nextLine: null, gaps: [] });
    }
    expect((await readLogLines(log, { from: 4000 })).lines).toEqual([]);
    printed.spool.close();
  });

  test('pages continue until everything is there', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 25_000);
    const lines: string[] = [];
    for (let from: number | null = 1; from !== null; ) {
      const page = await readLogLines(printed.log, { from });
      lines.push(...numbered(page.lines));
      from = page.nextLine;
    }
    expect(lines).toEqual(expected(printed.text));
    printed.spool.close();
  });

  test('every line knows its place', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 2000);
    print(printed, 'to stderr\n', 'stderr');
    const { lines } = await readLogLines(printed.log, {});
    for (const { offset, text, line, seq, timeMs } of lines) {
      expect(printed.text.slice(offset, offset + text.length)).toBe(text);
      expect(printed.text.slice(0, offset).split('\n').length).toBe(line);
      expect(seq).toBeGreaterThan(0);
      expect(timeMs).toBeGreaterThan(1e12);
    }
    expect(lines.at(-1)?.stream).toBe('stderr');
    printed.spool.close();
  });

  test('long lines are cut, and carriage returns at the end of a line do not count', async () => {
    const printed = inMemory();
    print(printed, `${'a'.repeat(3000)}\r\nb\r\r\n`);
    const { lines } = await readLogLines(printed.log, { maxLineBytes: 100 });
    expect(lines.map(({ text, cut }) => [text, cut])).toEqual([
      ['a'.repeat(100), true],
      ['b', false],
    ]);
    const { matches } = await searchLog(printed.log, { pattern: 'a$', regex: true, maxLineBytes: 5 });
    expect(matches.map(({ text, cut, line }) => [line, text, cut])).toEqual([[1, 'aaaaa', true]]);
  });

  test('numbers stay when old output is dropped, and the loss is named', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder, { processBytes: 256 * KIB });
    printLines(printed, 20_000);
    // Writes what is waiting, which would drop more of the old output meanwhile.
    printed.spool.close();
    const all = expected(printed.text);
    const page = await readLogLines(printed.log, {});
    const [gap] = page.gaps;
    expect(page.gaps).toHaveLength(1);
    expect(gap?.lostBytes).toBeGreaterThan(100 * KIB);
    expect(page.totalLines).toBe(20_000);
    expect(page.lines[0]?.line).toBe(gap?.beforeLine);
    expect(page.lines[0]?.offset).toBe(gap?.lostBytes);
    expect(numbered(page.lines.slice(1))).toEqual(
      all.slice(page.lines[1]!.line - 1, page.lines.at(-1)!.line),
    );
    const found = await searchLog(printed.log, { pattern: 'line 19999 ' });
    expect(numbered(found.matches)).toEqual([all[19_998]]);
    expect(found.gaps).toEqual(page.gaps);
    printed.log.appendExited(exit);
    printed.log.appendClosed();
    const stored = await printed.spool.find({ owner: 'me', processId: 'p' });
    expect(numbered((await searchLog(stored!, { pattern: 'line 19999 ' })).matches)).toEqual([all[19_998]]);
    expect((await readLogLines(stored!, { from: 5 })).gaps).toHaveLength(1);
    printed.spool.close();
  });

  test('lines that only memory had are numbered from when they are first asked about', async () => {
    const printed = inMemory();
    printLines(printed, 500);
    const first = await readLogLines(printed.log, {});
    expect(first.gaps).toHaveLength(1);
    const known = first.lines.at(-1);
    printLines(printed, 30, { seed: 2 });
    const again = await searchLog(printed.log, { pattern: known?.text ?? '' });
    expect(again.matches[0]?.line).toBe(known?.line);
    printLines(printed, 500, { seed: 3 });
    const last = await readLogLines(printed.log, { from: -1 });
    expect(last.lines[0]?.line).toBe((known?.line ?? 0) + 530);
  });

  test('the spool is deleted: numbers go on behind what could not be kept', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 1000);
    await readLogLines(printed.log, { to: 1 });
    // Files are opened again when there is more to write.
    printed.spool.close();
    rmSync(folder.file('spool'), { recursive: true });
    printLines(printed, 4000, { seed: 5 });
    const page = await readLogLines(printed.log, {});
    expect(page.totalLines).toBe(5000);
    expect(page.gaps.length).toBeGreaterThan(0);
    const all = expected(printed.text);
    expect(numbered(page.lines.slice(-3))).toEqual(all.slice(-3));
    printed.spool.close();
  });

  test('a torn tail is left out', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 3000);
    const [facts] = await printed.spool.list();
    printed.spool.close();
    const data = join(folder.file('spool'), facts?.id ?? '', '00000001.data');
    truncateSync(data, 50_000);
    const stored = printed.spool.open(facts?.id ?? '');
    const page = await readLogLines(stored!, {});
    const whole = printed.text.slice(0, stored!.totalBytes);
    expect(stored!.totalBytes).toBeGreaterThan(40_000);
    expect(numbered(page.lines)).toEqual(expected(whole));
    expect(page.failure).toMatch(/The server ended before the process did/);
    stored!.close();
  });

  test('files that go while they are searched are a loss, not an error', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 3000);
    printed.log.appendExited(exit);
    printed.log.appendClosed();
    const stored = await printed.spool.find({ owner: 'me', processId: 'p' });
    rmSync(folder.file('spool'), { recursive: true });
    const found = await searchLog(stored!, { pattern: 'line' });
    expect(found).toMatchObject({ matches: [], atEnd: true, gaps: [{ lostBytes: printed.text.length }] });
    printed.spool.close();
  });
});

describe('searching a log', () => {
  test.each([
    { pattern: 'line 12' },
    { pattern: 'xx$', regex: true },
    { pattern: '^LINE \\d*7 ', regex: true, caseSensitive: false },
    { pattern: '1 x' },
  ])('finds what a plain search finds: %o', async (options) => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    printLines(printed, 4000);
    print(printed, 'line 12 without an end xx');
    const matches = await allMatches(printed.log, { ...options, maxMatches: 97 });
    const wanted = options.regex
      ? new RegExp(options.pattern, options.caseSensitive === false ? 'i' : '')
      : new RegExp(options.pattern);
    expect(numbered(matches)).toEqual(expected(printed.text, (line) => wanted.test(line)));
    printed.spool.close();
  });

  test('colours are ignored, and bytes come as they were printed', async () => {
    const printed = inMemory();
    print(printed, 'one\n\u001b[31mer\u001b[0mror\u001b[0m: two\r\nthree\n');
    const { matches } = await searchLog(printed.log, { pattern: 'error: two' });
    expect(matches.map(({ line, text }) => [line, text])).toEqual([
      [2, '\u001b[31mer\u001b[0mror\u001b[0m: two'],
    ]);
  });

  test('binary output', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    const random = seededRandom(9);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, () => Math.floor(random() * 256)));
    for (let at = 0; at < bytes.length; at += 7000)
      printed.log.appendOutput('stdout', Buffer.from(bytes.subarray(at, at + 7000)));
    const newlines = bytes.filter((byte) => byte === 10).length;
    expect((await readLogLines(printed.log, { from: -1 })).totalLines).toBe(newlines + 1);
    const needle = String.fromCharCode(...bytes.subarray(200_000, 200_001));
    expect((await allMatches(printed.log, { pattern: needle, regex: false })).length).toBeGreaterThan(0);
    printed.spool.close();
  });

  test('what is printed later is found with the cursor, an unfinished line once', async () => {
    const printed = inMemory();
    print(printed, 'hit one\nhit tw');
    const first = await searchLog(printed.log, { pattern: 'hit' });
    expect(numbered(first.matches)).toEqual(['1:hit one', '2:hit tw']);
    print(printed, 'o hit\nhit three\n');
    const second = await searchLog(printed.log, { pattern: 'hit', cursor: first.cursor });
    expect(numbered(second.matches)).toEqual(['3:hit three']);
  });

  test('waiting: an unfinished line is left until it is finished or nothing more comes', async () => {
    const printed = inMemory();
    print(printed, 'hit o');
    const waiting = searchLog(printed.log, { pattern: 'hit', waitMs: 60_000 });
    print(printed, 'ne\nhit two');
    const first = await waiting;
    expect(numbered(first.matches)).toEqual(['1:hit one']);
    const last = searchLog(printed.log, { pattern: 'hit', waitMs: 60_000, cursor: first.cursor });
    printed.log.appendExited(exit);
    printed.log.appendClosed();
    expect(numbered((await last).matches)).toEqual(['2:hit two']);
  });

  test('since a time: only lines that begin then', async () => {
    using folder = new TestFolder();
    for (const printed of [spooled(folder), inMemory()]) {
      print(printed, 'old\nbegun early, ');
      const { timeMs } = (await readLogLines(printed.log, { from: -1 })).lines[0]!;
      while (Date.now() <= timeMs) await new Promise((resolve) => setImmediate(resolve));
      const sinceMs = Date.now();
      print(printed, 'ended late\nnew\n');
      expect(numbered((await readLogLines(printed.log, { sinceMs })).lines)).toEqual(['3:new']);
      expect(numbered((await searchLog(printed.log, { pattern: 'e', sinceMs })).matches)).toEqual(['3:new']);
      expect((await searchLog(printed.log, { pattern: 'e', sinceMs: sinceMs + 1e9 })).matches).toEqual([]);
      expect((await searchLog(printed.log, { pattern: 'e', sinceMs: 0 })).matches).toHaveLength(2);
    }
  });

  test('one answer is bounded, whatever matches', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    const long = `${'y'.repeat(60_000)}\n`;
    for (let count = 0; count < 100; count += 1) printed.log.appendOutput('stdout', Buffer.from(long));
    const request = { pattern: 'y$', regex: true, maxLineBytes: 65_536, maxMatches: 10_000 };
    const page = await searchLog(printed.log, request);
    const bytes = page.matches.reduce((sum, line) => sum + line.bytes.length, 0);
    expect([page.atEnd, bytes < 1_200_000, bytes > 500_000]).toEqual([false, true, true]);
    expect(await allMatches(printed.log, request)).toHaveLength(100);
    printed.spool.close();
  });

  test('one answer searches only so much', async () => {
    using folder = new TestFolder();
    const printed = spooled(folder);
    const line = Buffer.alloc(1_000_003, 'some text\n');
    for (let count = 0; count < 70; count += 1) printed.log.appendOutput('stdout', Buffer.from(line));
    for (const regex of [true, false]) {
      const first = await searchLog(printed.log, { pattern: 'none', regex });
      expect(first).toMatchObject({ matches: [], atEnd: false });
      const { cursor } = first;
      expect(await searchLog(printed.log, { pattern: 'none', regex, cursor })).toMatchObject({ atEnd: true });
    }
    printed.spool.close();
  });

  test('a bad cursor and a bad pattern are refused', async () => {
    const { log } = inMemory();
    for (const request of [
      { pattern: 'a', cursor: '1' },
      { pattern: '(', regex: true },
    ])
      await expect(searchLog(log, request)).rejects.toMatchObject({ code: 'invalidParams' });
  });
});

test('newlines are counted in output of any length and alignment', () => {
  const bytes = Buffer.alloc(200_000, 'ab\n\nxyz\n');
  for (const [from, length] of [
    [0, 0],
    [1, 63],
    [3, 64],
    [5, 4081],
    [2, 65_536],
    [7, 65_537],
    [11, 199_000],
  ] as const) {
    const part = bytes.subarray(from, from + length);
    expect(countNewlines(part)).toBe(part.filter((byte) => byte === 10).length);
  }
  expect(countNewlines(Buffer.alloc(100_000, '\n'))).toBe(100_000);
});
