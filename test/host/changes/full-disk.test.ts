// Needs: bwrap, root
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Journal, readJournal, writeJournal } from '../../../src/host/changes/apply/journal.js';
import { Scene } from './harness.js';

const isRoot = process.geteuid?.() === 0;
const KIB = 1024;

/** A disk of 4 MiB at a path, for the time of a test. */
class SmallDisk implements Disposable {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'execwire-test', path]);
  }

  /** Leaves this much room. */
  fill(leftBytes: number): void {
    this.empty();
    const { bavail, bsize } = statfsSync(this.#path);
    writeFileSync(join(this.#path, '.filler'), Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  }

  empty(): void {
    writeFileSync(join(this.#path, '.filler'), '');
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.#path]);
  }
}

const FULL = { code: 'ioFailed', message: 'The disk is full; nothing was applied.' };

describe.skipIf(!isRoot)('on a full disk', () => {
  test('where the files are, nothing is applied and nothing is left, until there is room', async () => {
    await using scene = new Scene();
    using disk = new SmallDisk(scene.workspace);
    writeFileSync(scene.file('old'), 'old\n');
    await scene.run(
      'rm old; mkdir d; for i in 1 2 3; do head -c 1000000 /dev/urandom > d/$i; done; echo n > n',
    );
    const set = scene.environment.changes('task');
    disk.fill(1_500 * KIB);
    await expect(set.apply()).rejects.toMatchObject(FULL);
    expect(readdirSync(scene.workspace).toSorted()).toEqual(['.filler', 'old']);
    expect((await set.list()).counts).toEqual({ created: 5, modified: 0, deleted: 1 });
    disk.empty();
    expect((await set.apply()).applied).toEqual({ created: 5, modified: 0, deleted: 1 });
    expect(readdirSync(scene.workspace).toSorted()).toEqual(['.filler', 'd', 'n']);
  });

  test('where the sets are, changes can be looked at and discarded, and applied once there is room', async () => {
    await using scene = new Scene();
    mkdirSync(scene.sets);
    using disk = new SmallDisk(scene.sets);
    await scene.run('for i in $(seq 1000); do : > a-file-with-a-long-name-$i; done');
    const set = scene.environment.changes('task');
    // The journal takes some hundred KiB, and a disk that is getting full takes part of it.
    for (const left of [0, 4 * KIB, 20 * KIB, 64 * KIB, 100 * KIB]) {
      disk.fill(left);
      expect((await set.list({ limit: 1 })).counts.created).toBe(1_000);
      expect((await set.diff({ paths: [scene.file('a-file-with-a-long-name-7')] })).diffs).toHaveLength(1);
      await expect(set.apply()).rejects.toMatchObject(FULL);
      expect(readdirSync(scene.workspace)).toEqual([]);
    }
    disk.empty();
    expect((await set.apply()).applied.created).toBe(1_000);
    await scene.run('echo more > more');
    disk.fill(0);
    expect((await set.list()).counts).toEqual({ created: 1, modified: 0, deleted: 0 });
    await set.discard();
    expect(readdirSync(scene.sets)).toEqual(['.filler']);
  });

  test('where the sets are, a program is told so, and what it wrote stays', async () => {
    await using scene = new Scene();
    mkdirSync(scene.sets);
    using _ = new SmallDisk(scene.sets);
    const script = 'echo first > made; cat /dev/zero > big';
    const result = await scene.environment.run(['/bin/bash', '-c', script], {
      cwd: scene.workspace,
      sandbox: scene.policy(),
    });
    expect(result.exitCode).toBe(1);
    expect(result.changesFull).not.toBe(true);
    expect(result.stderr).toContain('No space left on device');
    expect(await scene.run('rm big; cat made')).toBe('first\n');
  });

  test('a journal is written as a whole or not at all', async () => {
    await using scene = new Scene();
    using disk = new SmallDisk(scene.workspace);
    const file = scene.file('journal.json');
    const journal: Journal = { phase: 'stage', steps: [], changed: [], unlocked: [] };
    writeJournal(file, journal);
    disk.fill(64 * KIB);
    const changed = Array.from({ length: 1_000 }, () => ({ root: 0, path: 'x'.repeat(100) }));
    expect(() => writeJournal(file, { ...journal, changed })).toThrow('ENOSPC');
    expect(readJournal(file)).toEqual(journal);
  });
});
