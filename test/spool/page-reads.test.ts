import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { readLines } from '../../src/lines/read-lines.js';
import { Spool, type StoredLog } from '../../src/spool/index.js';
import { TestFolder } from '../harness/processes.js';

const COUNTERS = '/proc/thread-self/io';
const LINE_BYTES = 64;
const CHUNK_LINES = 1000;
const CHUNKS = 300;

/** Reads that this thread has made so far. */
function reads(): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync(COUNTERS, 'utf8'))?.[1]);
}

/** A log of lines that tell their number. */
function storedLog(folder: TestFolder): StoredLog {
  const spool = new Spool({ directory: folder.file('spool') });
  const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
  const log = new ProcessLog({ archive });
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    const line = (index: number): string =>
      `${String(chunk * CHUNK_LINES + index + 1).padStart(LINE_BYTES - 1, '.')}\n`;
    log.appendOutput('stdout', Buffer.from(Array.from({ length: CHUNK_LINES }, (_, i) => line(i)).join('')));
  }
  archive.flush();
  const stored = spool.open(archive.facts.id);
  if (!stored) throw new Error('nothing was stored');
  spool.close();
  return stored;
}

test.runIf(existsSync(COUNTERS))('a page of lines from anywhere is a few reads', async () => {
  using folder = new TestFolder();
  const log = storedLog(folder);
  for (const from of [1, 77_777, 123_456, CHUNKS * CHUNK_LINES - 99]) {
    const before = reads();
    const { lines } = await readLines(log.output, { from, to: from + 99 });
    const made = reads() - before;
    expect(lines.map(({ text }) => Number(text.replaceAll('.', '')))).toEqual(
      Array.from({ length: 100 }, (_, index) => from + index),
    );
    // By halving to the entry, its data, and the lines together. One by one, each takes several.
    expect(made).toBeLessThan(60);
    log.close();
  }
});
