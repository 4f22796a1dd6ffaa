import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { base64 } from '../../../testkit/app-client.mjs';
import { type AppCase, answers, type CaseBench } from '../case.js';

/** Every kind of file there is, in the folder of the case. Links stay inside it. */
function furnish(bench: CaseBench): void {
  mkdirSync(bench.at('dir/deep'), { recursive: true });
  writeFileSync(bench.at('file'), 'content');
  writeFileSync(bench.at('dir/inner'), 'inner');
  chmodSync(bench.at('dir/inner'), 0o750);
  symlinkSync('file', bench.at('link'));
  symlinkSync('dir', bench.at('dir-link'));
  symlinkSync('missing', bench.at('dangling'));
  symlinkSync('loop', bench.at('loop'));
  execFileSync('mkfifo', [bench.at('fifo')]);
  for (const name of ['file', 'dir/inner', 'dir']) utimesSync(bench.at(name), 1_000_000, 1_234_567.891);
}

/** One request about a furnished folder, and how the folder looks afterwards. */
function furnished(name: string, method: string, params: (at: (name: string) => string) => object): AppCase {
  return {
    name: `${method}: ${name}`,
    play: async (bench) => {
      furnish(bench);
      const answer = await bench.ask(
        method,
        params((each) => bench.at(each)),
      );
      return { answer: sorted(answer), after: tree(bench.folder) };
    },
  };
}

function sorted(answer: unknown): unknown {
  const { result } = answer as { result?: { entries?: { fileName: string }[] } };
  result?.entries?.sort((one, other) => one.fileName.localeCompare(other.fileName));
  return answer;
}

/** Every path below with its mode and content. */
function tree(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = `${folder}/${name}`;
      const stat = lstatSync(path);
      if (stat.isSymbolicLink()) return [name, 'link', readlinkSync(path)];
      return [name, (stat.mode & 0o7777).toString(8), stat.isFile() ? readFileSync(path, 'latin1') : ''];
    });
}

const reads = (name: string, of: string): AppCase =>
  furnished(name, 'fs/readFile', (at) => ({ path: at(of) }));
const writes = (name: string, to: string, dataBase64 = base64('new')): AppCase =>
  furnished(name, 'fs/writeFile', (at) => ({ path: at(to), dataBase64 }));
const makes = (name: string, path: string, more: object = {}): AppCase =>
  furnished(name, 'fs/createDirectory', (at) => ({ path: at(path), ...more }));
const lists = (name: string, of: string): AppCase =>
  furnished(name, 'fs/readDirectory', (at) => ({ path: at(of) }));
const removes = (name: string, path: string, more: object = {}): AppCase =>
  furnished(name, 'fs/remove', (at) => ({ path: at(path), ...more }));
const copies = (name: string, from: string, to: string, more: object = {}): AppCase =>
  furnished(name, 'fs/copy', (at) => ({ sourcePath: at(from), destinationPath: at(to), ...more }));

/** Without the times of creation, which only one of the servers tells. */
const describes = (name: string, of: string): AppCase => ({
  name: `fs/getMetadata: ${name}`,
  play: async (bench) => {
    furnish(bench);
    const answer = (await bench.ask('fs/getMetadata', { path: bench.at(of) })) as {
      result?: Record<string, unknown>;
    };
    if (answer.result) delete answer.result['createdAtMs'];
    return answer;
  },
});

const RECURSIVE = { recursive: true };
const PLAIN = { recursive: false };

/** `fs/*` but for watches. Paths that are none are tried on what only reads. */
export const fileCases: readonly AppCase[] = [
  ...answers('fs/readFile', {
    'no path': {},
    'a path of null': { path: null },
    'a relative path': { path: 'relative' },
    'an empty path': { path: '' },
    'a path at home': { path: '~' },
    'a URI': { path: 'file:///dev/null' },
    'a path with a NUL': (bench) => ({ path: `${bench.at('a')}\0b` }),
    'a device': { path: '/dev/null' },
    'a file of the kernel without size': { path: '/proc/sys/kernel/ostype' },
    'a name that is too long': (bench) => ({ path: bench.at('x'.repeat(300)) }),
  }),
  reads('a file', 'file'),
  reads('through dots', 'dir/../file'),
  reads('through a link', 'link'),
  reads('through a link to a directory', 'dir-link/inner'),
  reads('a missing one', 'missing'),
  reads('a directory', 'dir'),
  reads('a FIFO', 'fifo'),
  reads('a link to nothing', 'dangling'),
  reads('a link to itself', 'loop'),
  reads('below a file', 'file/below'),
  reads('with a slash behind', 'file/'),
  writes('a new file', 'new'),
  writes('over a file', 'file', base64('x')),
  writes('nothing', 'file', ''),
  writes('through a link', 'link'),
  writes('through a link to nothing', 'dangling'),
  writes('a directory', 'dir'),
  writes('where no directory is', 'missing/new'),
  writes('no base64', 'file', '*'),
  writes('base64 without padding', 'file', 'AAA'),
  writes('base64 with white space', 'file', 'AA AA'),
  furnished('no content', 'fs/writeFile', (at) => ({ path: at('file') })),
  makes('a new one', 'new'),
  makes('with parents', 'a/b/c'),
  makes('that exists', 'dir'),
  makes('that exists, not recursive', 'dir', PLAIN),
  makes('without parents', 'a/b/c', PLAIN),
  makes('where a file is', 'file'),
  makes('below a file', 'file/below'),
  makes('where a link to a directory is', 'dir-link'),
  makes('recursive null', 'new', { recursive: null }),
  describes('a file', 'file'),
  describes('a directory', 'dir'),
  describes('a link to a file', 'link'),
  describes('a link to a directory', 'dir-link'),
  furnished('a path that is a number', 'fs/getMetadata', () => ({ path: 7 })),
  describes('a link to nothing', 'dangling'),
  describes('a link to itself', 'loop'),
  describes('a missing one', 'missing'),
  {
    name: 'fs/getMetadata: the time of creation',
    play: async (bench) => {
      furnish(bench);
      const { createdAtMs } = await bench.client.call('fs/getMetadata', { path: bench.at('file') });
      return Number(createdAtMs) > 0;
    },
  },
  {
    name: 'fs/getMetadata: a device',
    play: async (bench) => {
      const { isFile, isDirectory, isSymlink } = await bench.client.call('fs/getMetadata', {
        path: '/dev/null',
      });
      return { isFile, isDirectory, isSymlink };
    },
  },
  lists('a full one', 'dir'),
  lists('one with links and more', '.'),
  lists('an empty one', 'dir/deep'),
  lists('through a link', 'dir-link'),
  lists('a file', 'file'),
  lists('a missing one', 'missing'),
  removes('a file', 'file'),
  removes('a directory', 'dir'),
  removes('an empty directory, not recursive', 'dir/deep', PLAIN),
  removes('a full directory, not recursive', 'dir', PLAIN),
  removes('a link', 'link'),
  removes('a link to a directory', 'dir-link'),
  removes('a link to nothing', 'dangling'),
  removes('a FIFO', 'fifo'),
  removes('a missing one', 'missing'),
  removes('a missing one, without force', 'missing', { force: false }),
  removes('below a file', 'file/below'),
  removes('recursive and force null', 'dir', { recursive: null, force: null }),
  copies('a file', 'file', 'new'),
  copies('over a file', 'file', 'dir/inner'),
  copies('a file with its mode', 'dir/inner', 'new'),
  copies('a file onto itself', 'file', 'file'),
  copies('a file onto a directory', 'file', 'dir'),
  copies('a file where no directory is', 'file', 'missing/new'),
  copies('a missing one', 'missing', 'new'),
  copies('a link', 'link', 'new'),
  copies('a link to nothing', 'dangling', 'new'),
  copies('a FIFO', 'fifo', 'new'),
  copies('a directory', 'dir', 'new', RECURSIVE),
  copies('a directory into one', 'dir', 'dir/deep', RECURSIVE),
  copies('a directory without recursive', 'dir', 'new'),
  copies('a directory onto itself', 'dir', 'dir', RECURSIVE),
  copies('a directory into its inside', 'dir', 'dir/below', RECURSIVE),
  copies('a directory onto a file', 'dir', 'file', RECURSIVE),
  copies('a directory over a link to one', 'dir', 'dir-link', RECURSIVE),
];
