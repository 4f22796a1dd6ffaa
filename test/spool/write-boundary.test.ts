import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { Spool } from '../../src/spool/index.js';
import { BOUNDARY_BYTES } from '../../src/spool/write-boundary.js';
import { TestFolder } from '../harness/processes.js';

/** No power of two: nothing ends at a boundary by itself. */
const CHUNK_BYTES = 50_001;

interface Flood {
  readonly log: ProcessLog;
  readonly directory: string;
  /** Bytes in the newest file of output. */
  readonly newestBytes: () => number;
  readonly append: (count: number) => void;
}

/** A log that fills memory with something else once it has let go of it, as the next chunk would. */
function flood(spool: Spool, options: { retainedBytes?: number } = {}): Flood {
  const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
  const log = new ProcessLog({ archive, ...options, onEvicted: (bytes) => void bytes.fill(0xff) });
  let next = 0;
  const append = (count: number): void => {
    for (let each = 0; each < count; each += 1) {
      log.appendOutput('stdout', Buffer.alloc(CHUNK_BYTES, next % 251));
      next += 1;
    }
  };
  append(2);
  const [id = ''] = readdirSync(spool.directory);
  const directory = join(spool.directory, id);
  const newest = (): string =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.data'))
      .sort()
      .at(-1) ?? '';
  return { log, directory, newestBytes: () => statSync(join(directory, newest())).size, append };
}

/** The numbers of the chunks in a log, which must be as they were given; gaps are left out. */
function chunksIn(log: Pick<ProcessLog, 'next'>): number[] {
  const found: number[] = [];
  for (let afterSeq = 0; ; ) {
    const event = log.next(afterSeq);
    if (event?.type === 'gap') {
      afterSeq = event.beforeSeq - 1;
      continue;
    }
    if (event?.type !== 'output') return found;
    afterSeq = event.seq;
    const number = event.seq - 1;
    if (!Buffer.alloc(CHUNK_BYTES, number % 251).equals(event.bytes))
      throw new Error(`chunk ${number} differs`);
    found.push(number);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

describe('a flood', () => {
  test('is written up to boundaries, and everything can be read all the time', () => {
    using folder = new TestFolder();
    const spool = new Spool({ directory: folder.file('spool') });
    const { log, append, newestBytes } = flood(spool);
    let atBoundary = 0;
    for (let count = 2; count < 100; count += 1) {
      append(1);
      if (newestBytes() % BOUNDARY_BYTES === 0) atBoundary += 1;
      expect(chunksIn(log)).toEqual(range(0, count + 1));
    }
    expect(atBoundary).toBeGreaterThan(80);
    spool.close();
    expect(newestBytes()).toBe(100 * CHUNK_BYTES);
  });

  test('is readable after a crash up to the last chunk that was written as a whole', () => {
    using folder = new TestFolder();
    const spool = new Spool({ directory: folder.file('spool') });
    const { append, newestBytes } = flood(spool);
    append(98);
    const written = newestBytes();
    expect(written % BOUNDARY_BYTES).toBe(0);
    cpSync(spool.directory, folder.file('crashed'), { recursive: true });
    const crashed = new Spool({ directory: folder.file('crashed') });
    const stored = crashed.open(readdirSync(crashed.directory)[0] ?? '');
    if (!stored) throw new Error('cannot be opened');
    expect(chunksIn(stored)).toEqual(range(0, Math.floor(written / CHUNK_BYTES)));
    stored.close();
    spool.close();
  });

  test('is right where memory holds little, so that nothing may be left for later', () => {
    for (const retainedBytes of [0, CHUNK_BYTES, BOUNDARY_BYTES, 2 * BOUNDARY_BYTES - 1]) {
      using folder = new TestFolder();
      const spool = new Spool({ directory: folder.file('spool') });
      const { log, append } = flood(spool, { retainedBytes });
      append(98);
      expect(chunksIn(log)).toEqual(range(0, 100));
      spool.close();
      expect(chunksIn(log)).toEqual(range(0, 100));
    }
  });

  test('beyond its limit keeps its end, whatever was written of the next chunk when a segment went', () => {
    using folder = new TestFolder();
    const spool = new Spool({ directory: folder.file('spool'), processBytes: 3_000_000 });
    const { log, append } = flood(spool);
    for (let count = 2; count < 300; count += 1) {
      append(1);
      const found = chunksIn(log);
      expect(found).toEqual(range(found[0] ?? 0, count + 1));
    }
    expect(chunksIn(log).length).toBeGreaterThan(40);
    expect(chunksIn(log).length).toBeLessThan(80);
    spool.close();
  });

  test('goes on behind what a pause has written in the middle', () => {
    using folder = new TestFolder();
    const spool = new Spool({ directory: folder.file('spool') });
    const { log, append, newestBytes } = flood(spool);
    for (let count = 100; count <= 300; count += 100) {
      append(count === 100 ? 97 : 99);
      // Whoever asks for the history has everything written.
      log.history({ maxBytes: 1 });
      append(1);
      expect(newestBytes()).toBeGreaterThanOrEqual((count - 1) * CHUNK_BYTES);
    }
    expect(chunksIn(log)).toEqual(range(0, 300));
    spool.close();
  });
});
