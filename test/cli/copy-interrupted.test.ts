import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Drafts } from '../../src/copy/copy-draft.js';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { setLimit } from '../harness/limits.js';
import { TestFolder } from '../harness/processes.js';

const LARGE = Buffer.alloc(3 * 1024 * 1024 + 7, 'large');
/** What the full machine still takes of a file: less than the large one. */
const FULL_AT_BYTES = 1024 * 1024;

let server: ServerProcess;
let full: ServerProcess;
beforeAll(async () => {
  [server, full] = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  setLimit(full.pid, 'fsize', FULL_AT_BYTES);
});
afterAll(async () => {
  await Promise.all([server.stop(), full.stop()]);
});

/** A folder with an old file and a large one to put in its place. */
function prepare(): TestFolder {
  const folder = new TestFolder();
  mkdirSync(folder.file('to'));
  writeFileSync(folder.file('to/file'), 'old');
  writeFileSync(folder.file('large'), LARGE);
  return folder;
}

describe('a copy that fails', () => {
  test.each(['file', 'new'])('leaves what was there and no part of what was not, %s', async (name) => {
    using folder = prepare();
    const outcomes = await Promise.all([
      execwire(['cp', folder.file('large'), `${full.url}:${folder.file(`to/${name}`)}`]),
      execwire(['cp', `${server.url}:${folder.file('large')}`, `${full.url}:${folder.file(`to/${name}`)}`]),
      execwire(['cp', `${full.url}:${folder.file('large')}`, `${full.url}:${folder.file(`to/${name}`)}`]),
      execwire(['cp', '-', `${full.url}:${folder.file(`to/${name}`)}`], { input: LARGE }),
    ]);
    for (const { code, stderr } of outcomes) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^execwire: .+\n$/);
    }
    expect(readdirSync(folder.file('to'))).toEqual(['file']);
    expect(readFileSync(folder.file('to/file'), 'utf8')).toBe('old');
  });

  test('in the middle of a tree leaves only whole files', async () => {
    using folder = prepare();
    mkdirSync(folder.file('tree'));
    for (const name of ['a', 'b', 'c']) writeFileSync(folder.file(`tree/${name}`), name);
    writeFileSync(folder.file('tree/large'), LARGE);
    const { code } = await execwire(['cp', folder.file('tree'), `${full.url}:${folder.file('copy')}`]);
    expect(code).toBe(1);
    for (const name of readdirSync(folder.file('copy')))
      expect(readFileSync(folder.file(`copy/${name}`), 'utf8')).toBe(name);
  });
});

describe('a copy that is interrupted', () => {
  test.each([
    ['SIGINT', 130, 'file'],
    ['SIGTERM', 143, 'new'],
  ] as const)('by %s leaves nothing half there', async (signal, code, name) => {
    using folder = prepare();
    for (const place of [folder.file(`to/${name}`), `${server.url}:${folder.file(`to/${name}`)}`]) {
      const copy = new CommandLine(['cp', '-', place]);
      copy.child.stdin.write(LARGE);
      await draftIn(folder.file('to'));
      copy.child.kill(signal);
      expect(await copy.result()).toEqual({ code, stdout: '', stderr: '' });
      expect(readdirSync(folder.file('to'))).toEqual(['file']);
      expect(readFileSync(folder.file('to/file'), 'utf8')).toBe('old');
    }
  });
});

describe('drafts', () => {
  const files = new LocalFileSystem();
  const failing = (text: string) => async (place: { path: string }) => {
    writeFileSync(place.path, text);
    throw new Error('the middle of it');
  };

  test('without renaming, a new file is removed again and an old one is left alone', async () => {
    using folder = prepare();
    const drafts = new Drafts({ renames: false, signal: new AbortController().signal });
    for (const name of ['new', 'file']) {
      const place = { files, path: folder.file(`to/${name}`) };
      await expect(drafts.write(place, failing('part'))).rejects.toThrow('the middle of it');
    }
    expect(readdirSync(folder.file('to'))).toEqual(['file']);
  });

  test('what a link leads to is replaced, not the link; a pipe is written to', async () => {
    using folder = prepare();
    symlinkSync('to/file', folder.file('link'));
    const drafts = new Drafts({ renames: true, signal: new AbortController().signal });
    await drafts.write({ files, path: folder.file('link') }, async ({ path }) => writeFileSync(path, 'new'));
    expect(readFileSync(folder.file('to/file'), 'utf8')).toBe('new');
    expect(readdirSync(folder.file('to'))).toEqual(['file']);
    execFileSync('mkfifo', [folder.file('pipe')]);
    const seen: string[] = [];
    await drafts.write({ files, path: folder.file('pipe') }, async ({ path }) => void seen.push(path));
    expect(seen).toEqual([folder.file('pipe')]);
  });
});

/** Resolves when something is being written in a directory. */
async function draftIn(directory: string): Promise<void> {
  while (!readdirSync(directory).some((name) => name.endsWith('.part')))
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
}
