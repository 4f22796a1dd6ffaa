import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { benchDirectory } from './bench-directory.js';

/** More than the system keeps for us while we are busy. */
const TOO_MANY = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) + 1000;

test('events the system had to drop become an overflow for every watch, also one that had none', async () => {
  using bench = benchDirectory();
  mkdirSync(bench.at('noisy'));
  mkdirSync(bench.at('quiet'));
  writeFileSync(bench.at('noisy/a'), '');
  const files = new LocalFileSystem();
  await using noisy = await files.watch(bench.at('noisy'));
  await using quiet = await files.watch(bench.at('quiet'));
  // Two events each, and the event loop never gets a turn.
  for (let count = 0; count < TOO_MANY; count += 2) {
    renameSync(bench.at('noisy/a'), bench.at('noisy/b'));
    renameSync(bench.at('noisy/b'), bench.at('noisy/a'));
  }
  // The queue is full: nobody is told of this one.
  writeFileSync(bench.at('quiet/late'), '');
  for (const watch of [quiet, noisy]) {
    const changes = watch[Symbol.asyncIterator]();
    for (;;) {
      const { value, done } = await changes.next();
      if (done === true) throw new Error('the watch ended');
      if (value.overflow) break;
    }
  }
  writeFileSync(bench.at('quiet/after'), '');
  const seen: string[] = [];
  for await (const { changes } of quiet) {
    seen.push(...changes.map(({ path }) => path));
    if (seen.includes(bench.at('quiet/after'))) break;
  }
  expect(seen).toContain(bench.at('quiet/after'));
});
