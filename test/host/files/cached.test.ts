import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hostPath } from '../../../src/host/kernel/host-path.js';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { cachedMetadata } from '../../../src/host/files/cached/metadata.js';
import { readCachedFile } from '../../../src/host/files/cached/read.js';
import { benchDirectory } from './bench-directory.js';

const threadPool = new LocalFileSystem({ fastPath: false });

/**
 * Asks until there is an answer: the device has to be known first, following a link may have to note the time, and
 * somebody else's rename may get in the way of any look.
 */
async function eventually<Answer>(path: string, ask: () => Answer | null): Promise<Answer> {
  for (;;) {
    const answer = ask();
    if (answer !== null) return answer;
    await threadPool.getMetadata(path);
  }
}

async function fill(bench: { at(name?: string): string }): Promise<void> {
  mkdirSync(bench.at('dir'));
  writeFileSync(bench.at('file'), 'content');
  writeFileSync(bench.at('empty'), '');
  writeFileSync(bench.at('dir/inside'), 'inside');
  symlinkSync('file', bench.at('link'));
  symlinkSync('dir', bench.at('dir-link'));
  symlinkSync('nowhere', bench.at('dangling'));
  execFileSync('mkfifo', [bench.at('fifo')]);
  await eventually(bench.at('file'), () => readCachedFile(hostPath(bench.at('file')), {}));
}

describe('what the kernel has in memory', () => {
  test('is read at once, through links or refusing them', async () => {
    using bench = benchDirectory();
    await fill(bench);
    const read = async (name: string, followSymlinks = true): Promise<string> => {
      const path = hostPath(bench.at(name));
      return String(await eventually(bench.at(name), () => readCachedFile(path, { followSymlinks })));
    };
    expect(await read('file')).toBe('content');
    expect(await read('link')).toBe('content');
    expect(await read('dir-link/inside')).toBe('inside');
    expect(await read('empty')).toBe('');
    expect(await read('dir/inside', false)).toBe('inside');
    for (const name of ['link', 'dir-link/inside'])
      expect(readCachedFile(hostPath(bench.at(name)), { followSymlinks: false })).toBe(null);
  });

  test('anything in doubt is left to the thread-pool path', async () => {
    using bench = benchDirectory();
    await fill(bench);
    for (const name of ['dir', 'fifo', 'dangling', 'missing'])
      expect(readCachedFile(hostPath(bench.at(name)), {})).toBe(null);
    truncateSync(bench.at('file'), 256 * 1024 + 1);
    expect(readCachedFile(hostPath(bench.at('file')), {})).toBe(null);
    // Neither is a disk: one is made up as it is read, the other has no content of its own.
    for (const path of ['/proc/self/status', '/dev/null']) {
      await threadPool.readFile('/proc/self/status');
      expect(readCachedFile(hostPath(path), {})).toBe(null);
    }
  });

  test('is described as the thread-pool path describes it', async () => {
    using bench = benchDirectory();
    await fill(bench);
    for (const name of ['file', 'empty', 'dir', 'link', 'dir-link', 'fifo', 'dir/inside']) {
      const path = hostPath(bench.at(name));
      const described = await eventually(bench.at(name), () => cachedMetadata(path, {}));
      expect(described).toEqual(await threadPool.getMetadata(bench.at(name)));
    }
    expect(cachedMetadata(hostPath(bench.at('dangling')), {})).toBe(null);
    expect(cachedMetadata(hostPath(bench.at('link')), { followSymlinks: false })).toBe(null);
    const noLinks = await eventually(bench.at('dir'), () =>
      cachedMetadata(hostPath(bench.at('dir')), { followSymlinks: false }),
    );
    expect(noLinks).toEqual(await threadPool.getMetadata(bench.at('dir')));
  });

  test('costs no descriptor in the end', async () => {
    using bench = benchDirectory();
    await fill(bench);
    const before = readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 100; round += 1) {
      for (const name of ['file', 'dir', 'link', 'fifo', 'dangling', 'missing']) {
        readCachedFile(hostPath(bench.at(name)), {});
        cachedMetadata(hostPath(bench.at(name)), {});
        readCachedFile(hostPath('/proc/self/status'), {});
      }
    }
    await threadPool.readFile(bench.at('file'));
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 1);
  });
});
