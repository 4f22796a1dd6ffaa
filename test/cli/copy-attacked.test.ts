import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlockPool } from '../../src/copy/block-pool.js';
import { copyFile } from '../../src/copy/copy-file.js';
import { Drafts } from '../../src/copy/copy-draft.js';
import { LineBudget } from '../../src/copy/line-budget.js';
import { Persistence } from '../../src/copy/persistence.js';
import type { FileSystem } from '../../src/contract/index.js';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { execwire } from '../../testkit/command-line.mjs';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const MEBIBYTE = 1024 * 1024;
/** Ten thousand of anything take their time on a busy machine. */
const MANY_MS = 180_000;
const WITHOUT_A_WORD = { code: 0, stdout: '', stderr: '' };

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

/** Copies there and back again. */
async function thereAndBack(folder: TestFolder): Promise<void> {
  const there = `${server.url}:${folder.file('there')}`;
  expect(await execwire(['cp', folder.file('source'), there])).toEqual(WITHOUT_A_WORD);
  expect(await execwire(['cp', there, folder.file('back')])).toEqual(WITHOUT_A_WORD);
}

function listing(folder: string): string {
  return execFileSync('sh', ['-c', "find . -printf '%M %p\\n' -type f -printf '%s\\n' | sort"], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * MEBIBYTE,
  });
}

describe('a tree of a strange shape is copied both ways:', () => {
  test.each([
    ['thousands of tiny files', "seq 2000 | sed 's/.*/&/' | xargs -n 1000 touch"],
    [
      '1,000 directories deep',
      'i=0; while [ $i -lt 1000 ]; do mkdir d; cd -P d; i=$((i+1)); done; echo x > file',
    ],
    [
      'names of any bytes',
      "printf x > \"$(printf 'a\\nb')\"; printf y > \"$(printf '\\377%%41')\"; mkdir '*'; printf z > '*/ '",
    ],
    ['directories nobody may write to', 'mkdir closed; echo x > closed/file; chmod 555 closed'],
  ])(
    '%s',
    async (_, script) => {
      using folder = new TestFolder();
      mkdirSync(folder.file('source'));
      execFileSync('sh', ['-c', script], { cwd: folder.file('source') });
      await thereAndBack(folder);
      for (const copy of ['there', 'back'])
        expect(listing(folder.file(copy)) === listing(folder.file('source'))).toBe(true);
      execFileSync('chmod', ['-R', 'u+w', folder.path]);
    },
    MANY_MS,
  );
});

describe('a file that changes while it is copied', () => {
  const CONTENT = randomBytes(4 * MEBIBYTE + 5);

  /** What a copy ends with when something happens after its first block was read. */
  async function copyWhile(happens: (path: string) => void, folder: TestFolder): Promise<string> {
    const path = folder.file('source');
    writeFileSync(path, CONTENT);
    mkdirSync(folder.file('into'));
    const files = new LocalFileSystem();
    const { signal } = new AbortController();
    const changing = new Proxy(files, {
      get: (target, name) => {
        if (name !== 'open') return Reflect.get(target, name) as unknown;
        const open: FileSystem['open'] = async (file, options) => {
          const handle = await target.open(file, options);
          if (file !== path) return handle;
          const readPlainly = handle.read.bind(handle);
          const read: typeof handle.read = async (offset, length) => {
            const block = await readPlainly(offset, length);
            if (offset === 0) happens(path);
            return block;
          };
          return Object.assign(handle, { read });
        };
        return open;
      },
    });
    const job = {
      drafts: new Drafts({ renames: true, signal }),
      signal,
      writesBlocks: true,
      writesAtomically: false,
      placesFiles: true,
      keepsLinksAndTimes: true,
      followLinks: false,
      bytes: new LineBudget(),
      blockPool: new BlockPool(MEBIBYTE),
      persistence: new Persistence(),
      protect: async () => undefined,
      onBytes: () => undefined,
      onFollowed: () => undefined,
    };
    try {
      const from = { files: changing, path, size: CONTENT.length, mode: 0o644 };
      await copyFile(from, { files, path: folder.file('into/copy') }, job);
      return 'copied';
    } catch (error) {
      return String(error);
    }
  }

  test.each([
    ['grows', (path: string) => writeFileSync(path, 'more', { flag: 'a' })],
    ['disappears', unlinkSync],
    ['shrinks', (path: string) => truncateSync(path, 10)],
  ])('and %s is there as a whole or not at all', async (what, happens) => {
    using folder = new TestFolder();
    const outcome = await copyWhile(happens, folder);
    const there = readdirSync(folder.file('into'));
    if (outcome === 'copied') {
      expect(there).toEqual(['copy']);
      const copy = readFileSync(folder.file('into/copy'));
      expect(copy.subarray(0, CONTENT.length).equals(CONTENT)).toBe(true);
    } else {
      expect(what).toBe('shrinks');
      expect(outcome).toContain(`${folder.file('source')}: The file was cut short while it was copied`);
      expect(there).toEqual([]);
    }
  });
});
