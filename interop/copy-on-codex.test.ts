import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { execwire } from '../testkit/command-line.mjs';
import { TestFolder } from '../test/harness/processes.js';
import { sharedCodex } from './harness/shared-codex.js';

/** Larger than any message, and no whole number of blocks. */
const LARGE = randomBytes(66 * 1024 * 1024 + 12_345);
const WITHOUT_A_WORD = { code: 0, stdout: '', stderr: '' };

// Every path lies in a directory made for the case: the real server removes and overwrites whatever it is told to.
describe('execwire cp and the real server', () => {
  const codex = sharedCodex();

  /** Copies there and back again; the place there is `there`, the copy of the copy `back`. */
  async function thereAndBack(folder: TestFolder, source: string): Promise<void> {
    const far = folder.file('there');
    expect(await execwire(['cp', '-e', codex.url, source, `:${far}`])).toEqual(WITHOUT_A_WORD);
    expect(await execwire(['cp', '-e', codex.url, `:${far}`, folder.file('back')])).toEqual(WITHOUT_A_WORD);
  }

  test('a file, over an old one and into a directory', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('file'), 'content\n');
    writeFileSync(folder.file('there'), 'what was there before, and longer\n');
    await thereAndBack(folder, folder.file('file'));
    for (const name of ['there', 'back']) expect(readFileSync(folder.file(name), 'utf8')).toBe('content\n');
    mkdirSync(folder.file('into'));
    const into = ['cp', folder.file('file'), `${codex.url}:${folder.file('into')}`];
    expect(await execwire(into)).toEqual(WITHOUT_A_WORD);
    expect(readdirSync(folder.file('into'))).toEqual(['file']);
  });

  test('an executable file stays one on the way there; on the way back that server does not tell', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('tool'), '#!/bin/sh\n', { mode: 0o755 });
    await thereAndBack(folder, folder.file('tool'));
    expect(statSync(folder.file('there')).mode & 0o777).toBe(0o755);
    expect(statSync(folder.file('back')).mode & 0o111).toBe(0);
  });

  test('a large file, and one that comes through a pipe', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('large'), LARGE);
    await thereAndBack(folder, folder.file('large'));
    for (const name of ['there', 'back']) expect(readFileSync(folder.file(name)).equals(LARGE)).toBe(true);
    const piped = await execwire(['cp', '-', `${codex.url}:${folder.file('piped')}`], { input: LARGE });
    expect(piped).toEqual(WITHOUT_A_WORD);
    expect(readFileSync(folder.file('piped')).equals(LARGE)).toBe(true);
  });

  test('a directory with everything below it', async () => {
    using folder = new TestFolder();
    const tree = folder.file('tree');
    mkdirSync(`${tree}/a/b c/empty`, { recursive: true });
    for (let index = 0; index < 30; index += 1) writeFileSync(`${tree}/a/file ${index}`, String(index));
    writeFileSync(`${tree}/a/b c/all bytes`, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
    await thereAndBack(folder, tree);
    for (const name of ['there', 'back']) expect(contentOf(folder.file(name))).toEqual(contentOf(tree));
  });

  test('what is missing or in the way is said, and what was there stays', async () => {
    using folder = new TestFolder();
    const missing = await execwire(['cp', `${codex.url}:${folder.file('missing')}`, folder.file('here')]);
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^execwire: .+\n$/) });
    writeFileSync(folder.file('file'), 'new');
    writeFileSync(folder.file('old'), 'old');
    const below = await execwire(['cp', folder.file('file'), `${codex.url}:${folder.file('old/below')}`]);
    expect(below.code).toBe(1);
    symlinkSync('old', folder.file('link'));
    expect((await execwire(['cp', folder.file('file'), `${codex.url}:${folder.file('link')}`])).code).toBe(0);
    expect(readFileSync(folder.file('old'), 'utf8')).toBe('new');
    expect(readdirSync(folder.path).sort()).toEqual(['file', 'link', 'old']);
  });
});

/** Paths below a directory with what is in them. */
function contentOf(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .map((entry) => {
        const path = `${entry.parentPath}/${entry.name}`;
        const content = entry.isFile() ? readFileSync(path, 'base64') : 'a directory';
        return [path.slice(folder.length), content] as const;
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
