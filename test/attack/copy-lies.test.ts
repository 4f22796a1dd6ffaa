import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DirectoryEntry, FileSystem } from '../../src/contract/index.js';
import { childPath } from '../../src/copy/listing.js';
import { copyTree } from '../../src/copy/copy-tree.js';
import { fileUri, isExecError, parseFileUri, pathText } from '../../src/protocol/index.js';
import { treeJob } from '../harness/copy-jobs.js';
import { seededRandom } from '../harness/random.js';
import { tally, tries } from './tally.js';

const MiB = 1024 * 1024;
/** The most content a copy holds at a time. */
const ROOM_BYTES = 28 * MiB;

/** A directory of files that are said to be empty and are not. */
function understated({ count, bytes }: { count: number; bytes: number }): FileSystem {
  const entries = Array.from({ length: count }, (_, index): DirectoryEntry => {
    const name = `file-${index}`;
    return { name, path: `/far/${name}`, isDirectory: false, isFile: true, size: 0, mode: 0o644 };
  });
  const files: Partial<FileSystem> = {
    readDirectory: async () => entries,
    readFile: async () => new Uint8Array(bytes),
  };
  return files as FileSystem;
}

test.each([false, true])(
  'files that are larger than listed do not fill memory (placement: %s)',
  async (places) => {
    let held = 0;
    let most = 0;
    let written = 0;
    const slow: Partial<FileSystem> = {
      createDirectory: async () => undefined,
      readDirectory: async () => [],
      writeFile: async (_, content) => {
        held += content.length;
        most = Math.max(most, held);
        for (let turn = 0; turn < 20; turn += 1) await nextTurn();
        held -= content.length;
        written += content.length;
      },
    };
    const size = { count: 100, bytes: 4 * MiB };
    await copyTree(
      { files: understated(size), path: '/far' },
      { files: slow as FileSystem, path: '/near' },
      treeJob({ placesFiles: places }),
    );
    tally('files larger than said', { tries: size.count, successes: most > ROOM_BYTES ? 1 : 0 });
    expect(written).toBe(size.count * size.bytes);
    expect(most).toBeLessThanOrEqual(ROOM_BYTES);
  },
);

test('whatever a server calls its files, each goes right into the directory or nowhere', () => {
  const random = seededRandom(1);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const parts = [
    '.',
    '..',
    '/',
    '%2e',
    '%2F',
    '%FF',
    '%00',
    '%0a',
    '\n',
    '\\',
    'a',
    'file:',
    '~',
    '-',
    'C:',
    '%',
  ];
  const some = (): string => Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(parts)).join('');
  const counts = { tries: 0, successes: 0, copied: 0 };
  for (let index = 0; index < tries(20_000); index += 1) {
    const directory = pick(['/near/into', 'file:///near/into%FF', '/near/in to', '/']);
    const name = some();
    counts.tries += 1;
    let place: string;
    try {
      const path = random() < 0.5 ? `/far/${name}` : pathText(parseFileUri(`file:///${some()}`));
      place = pathText(parseFileUri(fileUri(childPath(directory, { name, path }))));
    } catch (error) {
      if (isExecError(error)) continue;
      throw error;
    }
    counts.copied += 1;
    const segments = fileUri(place).slice('file://'.length).split('/');
    const parent = `file://${segments.slice(0, -1).join('/') || '/'}`;
    if (parent !== fileUri(directory) || segments.at(-1) === '') counts.successes += 1;
  }
  tally('names that lead out of a copy', counts);
  expect(counts.successes).toBe(0);
  expect(counts.copied).toBeGreaterThan(counts.tries / 100);
});
