import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { isExecError } from '../../../src/protocol/index.js';
import { benchDirectory } from './bench-directory.js';
import { openSmallDisk } from './small-disk.js';

const files = new LocalFileSystem();

/** Code and message of the error a call ends with. */
async function failure(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return isExecError(error) ? `${error.code}: ${error.message}` : `not ours: ${String(error)}`;
  }
  return 'no error';
}

/** Root passes every permission check, so it steps down for the time of the call. */
async function withoutPrivileges<T>(call: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await call();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a full disk', () => {
  test('fails an atomic write, keeps the old content and leaves nothing behind', async () => {
    using disk = openSmallDisk();
    const path = join(disk.path, 'file');
    writeFileSync(path, 'old');
    const large = Buffer.alloc(2 * 1024 * 1024, 'x');
    expect(await failure(files.writeFile(path, large, { atomic: true }))).toBe(`ioFailed: ${disk.message}`);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(disk.path)).toEqual(['file']);
    expect(await failure(files.writeFile(path, large))).toBe(`ioFailed: ${disk.message}`);
    await using handle = await files.open(join(disk.path, 'other'), { mode: 'replace' });
    expect(await failure(handle.write(0, large))).toBe(`ioFailed: ${disk.message}`);
  });

  test('is told from a device that is always full', async () => {
    expect(await failure(files.writeFile('/dev/full', 'x'))).toBe(
      'ioFailed: No space left on device (os error 28)',
    );
    expect(await failure(files.writeFile('/dev/null', 'x'))).toBe('no error');
    expect(await failure(files.writeFile('/dev/null', 'x', { atomic: true }))).toMatch(/^invalidFile/);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe('permissions', () => {
  test('refused access has its own code', async () => {
    using bench = benchDirectory();
    chmodSync(bench.at(), 0o755);
    writeFileSync(bench.at('secret'), '', { mode: 0 });
    mkdirSync(bench.at('closed/inner'), { recursive: true });
    mkdirSync(bench.at('open'));
    chmodSync(bench.at('closed'), 0);
    const denied = 'permissionDenied: Permission denied (os error 13)';
    await withoutPrivileges(async () => {
      expect(await failure(files.readFile(bench.at('secret')))).toBe(denied);
      expect(await failure(files.readDirectory(bench.at('closed')))).toBe(denied);
      expect(await failure(files.getMetadata(bench.at('closed/inner')))).toBe(denied);
      const { entries, errors } = await files.walk(bench.at());
      expect(entries.map((entry) => entry.path)).toEqual(
        ['closed', 'open', 'secret'].map((name) => bench.at(name)),
      );
      expect(errors).toEqual([{ path: bench.at('closed'), message: 'Permission denied (os error 13)' }]);
    });
    chmodSync(bench.at('closed'), 0o755);
  });
});

describe('large things', () => {
  test('50,000 entries are listed, one more is refused; a walk is cut', { timeout: 120_000 }, async () => {
    using bench = benchDirectory({ inMemory: true });
    mkdirSync(bench.at('many'));
    writeFileSync(bench.at('one'), '');
    for (let index = 0; index < 50_000; index++) linkSync(bench.at('one'), bench.at(`many/${index}`));
    expect(new Set((await files.readDirectory(bench.at('many'))).map((entry) => entry.name)).size).toBe(
      50_000,
    );
    linkSync(bench.at('one'), bench.at('many/one more'));
    expect(await failure(files.readDirectory(bench.at('many')))).toBe(
      'ioFailed: directory has more than 50000 entries',
    );
    const { entries, truncated } = await files.walk(bench.at('many'));
    expect(truncated).toBe(true);
    expect(entries.length).toBeGreaterThan(30_000);
  });

  test('a file past the limit is refused, and read in blocks without piling up', async () => {
    using bench = benchDirectory();
    writeFileSync(bench.at('sparse'), '');
    truncateSync(bench.at('sparse'), 512 * 1024 * 1024 + 1);
    expect(await failure(files.readFile(bench.at('sparse')))).toBe(
      'fileTooLarge: file is too large to read: limit is 536870912 bytes',
    );
    await using handle = await files.open(bench.at('sparse'));
    const block = 1024 * 1024;
    let peak = 0;
    for (let offset = 0; offset < 128 * block; offset += block) {
      expect((await handle.read(offset, block)).bytes.length).toBe(block);
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    }
    expect(peak).toBeLessThan(96 * block);
  });

  test('files that do not know their size are read to the end', async () => {
    const status = Buffer.from(await files.readFile('/proc/self/status')).toString();
    expect(status).toContain(`Pid:\t${process.pid}`);
  });

  test('a deep tree with many files is removed', async () => {
    using bench = benchDirectory();
    mkdirSync(bench.at(Array.from({ length: 200 }, () => 'deeper').join('/')), { recursive: true });
    for (let index = 0; index < 1000; index++) writeFileSync(bench.at(`deeper/deeper/${index}`), '');
    await files.remove(bench.at('deeper'));
    expect(readdirSync(bench.at())).toEqual([]);
  });
});

describe('descriptors', () => {
  test('none is left open, whatever fails', async () => {
    using bench = benchDirectory();
    writeFileSync(bench.at('file'), '');
    const open = (): number => readdirSync('/proc/self/fd').length;
    const no = { followSymlinks: false };
    const round = () =>
      Promise.allSettled([
        files.readFile(bench.at('file/x'), no),
        files.readFile(bench.at('no/file'), no),
        files.readFile(bench.at()),
        files.readFile('/dev/zero'),
        files.writeFile(bench.at(), '', { atomic: true }),
        files.createDirectory(bench.at('file/x'), no),
        files.remove(bench.at('file/x'), { ...no, recursive: false }),
        files.copy(bench.at('file'), bench.at('file')),
        files.open(bench.at(), { mode: 'replace' }),
        files.watch(bench.at('no/such')),
        files.watchMissing([bench.at('file')]),
      ]);
    await round();
    const before = open();
    for (let count = 0; count < 20; count++) await round();
    expect(open()).toBeLessThanOrEqual(before);
  });
});
