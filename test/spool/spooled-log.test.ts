import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ProcessLog, type ProcessEvent } from '../../src/contract/index.js';
import { isExecError } from '../../src/protocol/index.js';
import { Spool, type SpoolOptions } from '../../src/spool/index.js';
import { type SpoolRequest } from '../../src/spool/spool.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;
const exit = { exitCode: 3, signal: null, timedOut: false, sandboxDenied: false } as const;

/** Bytes that tell their position. */
function patterned(from: number, length: number): Uint8Array {
  const phase = from % PERIOD.length;
  return Buffer.alloc(phase + length, PERIOD).subarray(phase);
}
const PERIOD = Uint8Array.from({ length: 251 }, (_, index) => (index * 31) & 0xff);

/** A log with a spool behind it, as the host uses it. */
function spooledLog(
  folder: TestFolder,
  options: Partial<SpoolOptions> & { retainedBytes?: number; spills?: boolean } & Partial<SpoolRequest> = {},
) {
  const spool = new Spool({ directory: folder.file('spool'), ...options });
  const { owner = 'me', keep = true, size = null } = options;
  const archive = spool.create({ processId: 'p', owner, program: '/bin/prog', size, keep });
  const pressure: boolean[] = [];
  const log = new ProcessLog({
    retainedBytes: options.retainedBytes ?? 64 * KIB,
    windowBytes: 64 * KIB,
    archive,
    spills: options.spills,
    onPressure: (paused) => pressure.push(paused),
    onEvicted: (bytes) => bytes.fill(0xee),
  });
  return { spool, archive, log, pressure };
}

/** Appends output of a total length in pieces. Returns where it ended. */
function print(
  log: ProcessLog,
  { from = 0, total, piece }: { from?: number; total: number; piece: number },
): number {
  for (let at = from; at < from + total; at += piece)
    log.appendOutput('stdout', Buffer.from(patterned(at, Math.min(piece, from + total - at))));
  return from + total;
}

/** Reads everything after a position and checks every byte. */
function readBack(source: { next(seq: number): ProcessEvent | undefined }, afterSeq = 0) {
  const seen = { bytes: 0, lost: 0, intact: true, types: new Set<string>() };
  let seq = afterSeq;
  for (let event = source.next(seq); event; event = source.next(seq)) {
    seen.types.add(event.type);
    if (event.type === 'gap') {
      seen.lost += event.lostBytes;
      seq = event.beforeSeq - 1;
      continue;
    }
    seq = event.seq;
    if (event.type !== 'output') continue;
    seen.intact &&= Buffer.from(event.bytes).equals(patterned(seen.lost + seen.bytes, event.bytes.length));
    seen.bytes += event.bytes.length;
  }
  return { ...seen, types: [...seen.types] };
}

describe('a log with a spool', () => {
  test.each([7, 1000, 64 * KIB])('a reader that comes late sees no gap (pieces of %i)', (piece) => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    const total = piece === 7 ? 400_000 : 3_000_000;
    print(log, { total, piece });
    log.appendExited(exit);
    log.appendClosed();
    expect(readBack(log)).toEqual({
      bytes: total,
      lost: 0,
      intact: true,
      types: ['output', 'exited', 'closed'],
    });
    spool.close();
  });

  test('without a spool, the same reader is told of a gap', () => {
    const log = new ProcessLog({ retainedBytes: 64 * KIB });
    print(log, { total: 3_000_000, piece: 1000 });
    expect(readBack(log).lost).toBeGreaterThan(2_900_000);
  });

  test('any position is found, not only the first', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    print(log, { total: 2_000_000, piece: 1000 });
    for (const seq of [1999, 5, 1000, 1001, 17, 0, 1998]) {
      const event = log.next(seq);
      expect(event).toMatchObject({ type: 'output', seq: seq + 1 });
      if (event?.type === 'output')
        expect(Buffer.from(event.bytes).equals(patterned(seq * 1000, 1000))).toBe(true);
    }
    spool.close();
  });

  test('one read is bounded and says where to go on', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    print(log, { total: 9_000_000, piece: 50_000 });
    const first = log.read(0);
    const bytes = first.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
    expect(bytes).toBeLessThanOrEqual(4 * KIB * KIB);
    expect(bytes).toBeGreaterThan(4_000_000);
    expect(log.read(first.nextSeq - 1).chunks[0]?.seq).toBe(first.nextSeq);
    spool.close();
  });

  test('a program that prints little leaves nothing on disk while it runs', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    print(log, { total: 60 * KIB, piece: 100 });
    expect(readdirSync(spool.directory)).toEqual([]);
    spool.close();
    expect(readdirSync(spool.directory)).toHaveLength(1);
  });

  test('what a program that is quiet has printed is written within about a second', async () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    log.appendOutput('stdout', Buffer.from('ready\n'));
    await vi.waitFor(() => expect(readdirSync(spool.directory)).toHaveLength(1), { timeout: 10_000 });
    spool.close();
  });

  test('files are closed when nothing happens', async () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    const open = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(spool.directory)).length;
    print(log, { total: 500_000, piece: 1000 });
    readBack(log);
    expect(open()).toBeGreaterThan(0);
    await vi.waitFor(() => expect(open()).toBe(0), { timeout: 10_000 });
    expect(readBack(log)).toMatchObject({ bytes: 500_000, lost: 0 });
    spool.close();
  });

  test('a slow reader pauses the program, unless its output may spill', () => {
    using folder = new TestFolder();
    const waiting = spooledLog(folder);
    waiting.log.hold(0);
    print(waiting.log, { total: 100 * KIB, piece: KIB });
    expect(waiting.pressure).toEqual([true]);
    const spilling = spooledLog(folder, { spills: true });
    spilling.log.hold(0);
    print(spilling.log, { total: 3_000_000, piece: 1000 });
    spilling.log.appendExited(exit);
    spilling.log.appendClosed();
    expect(spilling.pressure).toEqual([]);
    expect(readBack(spilling.log)).toMatchObject({ bytes: 3_000_000, lost: 0, intact: true });
    waiting.spool.close();
    spilling.spool.close();
  });

  test('times never run backwards, whatever the clock does', () => {
    using folder = new TestFolder();
    const { log, archive, spool } = spooledLog(folder);
    const times = [1_000_000, 1_000_500, 400, 1_000_600];
    const clock = vi.spyOn(Date, 'now');
    for (const time of times) {
      clock.mockReturnValue(time);
      print(log, { total: 64 * KIB, piece: 64 * KIB });
    }
    clock.mockRestore();
    expect([0, 1, 2, 3].map((seq) => archive.after(seq)?.timeMs)).toEqual([
      1_000_000, 1_000_500, 1_000_500, 1_000_600,
    ]);
    spool.close();
  });
});

describe('bounds of a spool', () => {
  test('of one process: the oldest output goes, and is counted', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder, { processBytes: 1_000_000 });
    print(log, { total: 5_000_000, piece: 10_000 });
    const { bytes, lost, intact } = readBack(log);
    expect(intact).toBe(true);
    expect(bytes + lost).toBe(5_000_000);
    expect(bytes).toBeGreaterThan(600_000);
    expect(sizeOnDisk(spool.directory)).toBeLessThan(1_100_000);
    spool.close();
  });

  test('of all: finished processes go first, the oldest of them first', async () => {
    using folder = new TestFolder();
    const spool = new Spool({ directory: folder.file('spool'), totalBytes: 6_000_000 });
    const logs = ['a', 'b', 'running', 'c'].map((processId) => {
      const archive = spool.create({ processId, owner: 'me', program: 'x', size: null, keep: true });
      const log = new ProcessLog({ retainedBytes: 64 * KIB, archive });
      print(log, { total: 1_500_000, piece: 10_000 });
      if (processId === 'running') return log;
      log.appendExited(exit);
      const past = vi.spyOn(Date, 'now').mockReturnValue(processId === 'a' ? 2e12 : 1e12);
      log.appendClosed();
      past.mockRestore();
      return log;
    });
    await new Promise((resolve) => setImmediate(resolve));
    const late = new ProcessLog({
      retainedBytes: 64 * KIB,
      archive: spool.create({ processId: 'late', owner: 'me', program: 'x', size: null, keep: true }),
    });
    print(late, { total: 2_500_000, piece: 10_000 });
    await vi.waitFor(async () => {
      const left = (await spool.list()).map(({ processId }) => processId);
      expect(left).toEqual(expect.arrayContaining(['running', 'late']));
      expect(left).not.toContain('b');
    });
    expect(readBack(late)).toMatchObject({ bytes: 2_500_000, lost: 0, intact: true });
    expect(readBack(logs[2] as ProcessLog)).toMatchObject({ bytes: 1_500_000, lost: 0 });
    spool.close();
  });
});

describe('the place of a spool', () => {
  test('is private', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    print(log, { total: 200_000, piece: 1000 });
    const [id = ''] = readdirSync(spool.directory);
    const directory = join(spool.directory, id);
    expect([spool.directory, directory].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    spool.close();
  });

  test('must not belong to others, nor be changeable or replaceable by them', () => {
    using folder = new TestFolder();
    const refused = (path: string): boolean => {
      try {
        new Spool({ directory: path }).prepare();
        return false;
      } catch (error) {
        return isExecError(error, 'spoolUnavailable');
      }
    };
    const umask = process.umask(0);
    mkdirSync(folder.file('open'), { mode: 0o777 });
    mkdirSync(folder.file('open/own'), { mode: 0o700 });
    process.umask(umask);
    symlinkSync(folder.path, folder.file('link'));
    writeFileSync(folder.file('file'), '');
    expect(
      ['open', 'open/own', 'link', 'file', 'file/below'].map((name) => refused(folder.file(name))),
    ).toEqual([true, true, true, true, true]);
    expect(refused(folder.file('fine'))).toBe(false);
  });
});

describe('a stored log', () => {
  test('tells what the log told, also to the next server', async () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder, { size: { rows: 10, cols: 20 } });
    print(log, { total: 1_000_000, piece: 10_000 });
    log.recordSize({ rows: 30, cols: 40 });
    log.appendExited(exit);
    print(log, { from: 1_000_000, total: 1000, piece: 1000 });
    log.appendClosed();
    spool.close();
    const next = new Spool({ directory: spool.directory });
    const [facts] = await next.list();
    expect(facts).toMatchObject({
      processId: 'p',
      owner: 'me',
      program: 'prog',
      tty: true,
      size: { rows: 10, cols: 20 },
      end: { exitCode: 3, exitedSeq: 101, closedSeq: 103 },
    });
    const stored = next.open(facts?.id ?? '');
    expect(stored?.failure).toBeNull();
    expect(readBack(stored as NonNullable<typeof stored>)).toEqual({
      bytes: 1_001_000,
      lost: 0,
      intact: true,
      types: ['output', 'exited', 'closed'],
    });
    expect(stored?.read(0, 1).chunks).toHaveLength(1);
    expect(stored?.nextSeq).toBe(104);
    expect(await next.find({ owner: 'somebody else', processId: 'p' })).toBeNull();
    expect(next.open('../spool')).toBeNull();
    stored?.close();
    next.close();
  });

  test('is gone with its process, if it was not to be kept', () => {
    using folder = new TestFolder();
    const { log, archive, spool } = spooledLog(folder, { keep: false });
    print(log, { total: 1_000_000, piece: 10_000 });
    expect(readdirSync(spool.directory)).toHaveLength(1);
    archive.release();
    expect(readdirSync(spool.directory)).toEqual([]);
    spool.close();
  });

  test('keeps no argument of the program', () => {
    using folder = new TestFolder();
    const { log, spool } = spooledLog(folder);
    print(log, { total: 100_000, piece: 10_000 });
    const [id = ''] = readdirSync(spool.directory);
    const facts = JSON.parse(readFileSync(join(spool.directory, id, 'meta.json'), 'utf8')) as object;
    expect(Object.keys(facts)).not.toContain('argv');
    expect(existsSync(join(spool.directory, id, 'meta.json.new'))).toBe(false);
    spool.close();
  });
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

function sizeOnDisk(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}
