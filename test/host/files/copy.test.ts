import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { benchDirectory } from './bench-directory.js';

const files = new LocalFileSystem();
const isRoot = process.getuid?.() === 0;
/** A user and a group nobody is. */
const SOMEBODY = 61_234;

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe('the permissions of a copy', () => {
  test('are those of the original before there is anything in it', async () => {
    using bench = benchDirectory();
    writeFileSync(bench.at('key'), Buffer.alloc(32 * 1024 * 1024), { mode: 0o600 });
    const over = new AbortController();
    const copied = files.copy(bench.at('key'), bench.at('copy')).finally(() => over.abort());
    const seen = new Set<number>();
    while (!over.signal.aborted) {
      const stats = statSync(bench.at('copy'), { throwIfNoEntry: false });
      if (stats && stats.size > 0) seen.add(stats.mode & 0o777);
      await nextTurn();
    }
    await copied;
    seen.add(modeOf(bench.at('copy')));
    expect([...seen]).toEqual([0o600]);
  });

  test('let programs run as their owner only where the copy has the same one', async () => {
    using bench = benchDirectory();
    for (const name of ['own', 'foreign']) writeFileSync(bench.at(name), '#!/bin/sh\n');
    // Only root can give files away; for everyone else all files are their own.
    if (isRoot) chownSync(bench.at('foreign'), SOMEBODY, SOMEBODY);
    for (const name of ['own', 'foreign']) {
      chmodSync(bench.at(name), 0o6755);
      await files.copy(bench.at(name), bench.at(`${name}-copy`));
    }
    expect(modeOf(bench.at('own-copy'))).toBe(0o6755);
    expect(modeOf(bench.at('foreign-copy'))).toBe(isRoot ? 0o755 : 0o6755);
  });
});
