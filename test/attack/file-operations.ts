import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { WireAnswer } from '../../testkit/wire-client.mjs';
import { HARMLESS, type RaceArena, SECRET, SECRET_NAME } from './race-arena.js';

/** Kept to by the operation itself, or by a sandbox. */
export type Protection = 'noFollow' | 'tree' | 'policy';

/** One way to be led out of a tree by a link, and how to tell. */
export interface Attack {
  readonly name: string;
  /** `tree`: a recursive operation that enters no link below its start. */
  readonly protections: readonly Protection[];
  /** One try. `more` has what protects it. Resolves to the answers that came. */
  attempt(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]>;
}

/** A time nothing outside has. */
const TIME = { modifiedAtUs: 1_000_000_000_000_000 };
const DATA = Buffer.from(HARMLESS).toString('base64');
const SECRET_BASE64 = Buffer.from(SECRET).toString('base64');

/** Whether an answer tells anything of what is outside: its content, its names, or its sizes. */
export function tells(answer: WireAnswer): boolean {
  const text = JSON.stringify(answer.result ?? answer.error ?? {});
  const size = (answer.result as { size?: number } | undefined)?.size;
  return (
    text.includes(SECRET) ||
    text.includes(SECRET_BASE64.slice(0, 16)) ||
    text.includes(SECRET_NAME) ||
    size === SECRET.length
  );
}

/** A request of one kind, over and over. */
function request(
  method: string,
  params: (arena: RaceArena, index: number) => object,
  tidy: (arena: RaceArena, index: number) => void = () => undefined,
): Attack['attempt'] {
  return async (arena, more, index) => {
    const answer = await arena.host.client.ask(method, { ...params(arena, index), ...more });
    tidy(arena, index);
    return [answer];
  };
}

const WALK = {
  maxDepth: 8,
  maxDirectories: 100,
  maxEntries: 100,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

export const attacks: readonly Attack[] = [
  {
    name: 'fs/readFile',
    protections: ['noFollow', 'policy'],
    attempt: request('fs/readFile', (arena) => ({ path: arena.url('tree/dir/file') })),
  },
  {
    name: 'fs/writeFile',
    protections: ['noFollow', 'policy'],
    attempt: request('fs/writeFile', (arena, index) => ({
      path: arena.url(index % 3 === 0 ? 'tree/dir/new' : 'tree/dir/file'),
      dataBase64: DATA,
      atomic: index % 2 === 0,
    })),
  },
  {
    name: 'fs/createDirectory',
    protections: ['noFollow', 'policy'],
    attempt: request(
      'fs/createDirectory',
      (arena, index) => ({ path: arena.url(`tree/dir/made-${index}/deep`), recursive: true }),
      (arena, index) => rmSync(arena.real(`made-${index}`), { recursive: true, force: true }),
    ),
  },
  {
    name: 'fs/remove of one',
    protections: ['noFollow', 'policy'],
    attempt: request(
      'fs/remove',
      (arena) => ({ path: arena.url('tree/dir/file'), recursive: false }),
      (arena) => arena.restore('file'),
    ),
  },
  { name: 'fs/remove of a tree', protections: ['tree', 'policy'], attempt: removeTree },
  { name: 'fs/copy', protections: ['tree', 'policy'], attempt: copyTree },
  {
    name: 'fs/rename',
    protections: ['policy'],
    attempt: request(
      'fs/rename',
      (arena, index) => ({
        sourcePath: arena.url('tree/dir/file'),
        destinationPath: arena.url(index % 2 === 0 ? 'tree/dir/file2' : 'taken'),
      }),
      (arena) => {
        arena.restore('file');
        rmSync(arena.path('taken'), { force: true });
      },
    ),
  },
  {
    name: 'fs/walk',
    protections: ['tree', 'policy'],
    attempt: request('fs/walk', (arena) => ({ path: arena.url('tree'), options: WALK })),
  },
  {
    name: 'fs/search',
    protections: ['policy'],
    attempt: request('fs/search', (arena) => ({ path: arena.url('tree'), pattern: 's' })),
  },
  {
    name: 'fs/getMetadata and fs/readDirectory',
    protections: ['noFollow', 'policy'],
    attempt: async (arena, more, index) => {
      const { client } = arena.host;
      const metadata = await client.ask('fs/getMetadata', { path: arena.url('tree/dir/file'), ...more });
      // A listing always follows the links in its path, so only a policy keeps it in.
      if (!('sandbox' in more) || index % 2 === 0) return [metadata];
      return [metadata, await client.ask('fs/readDirectory', { path: arena.url('tree/dir'), ...more })];
    },
  },
  { name: 'fs/open and blocks', protections: ['policy'], attempt: openAndWrite },
  {
    name: 'fs/createSymlink',
    protections: ['noFollow', 'policy'],
    attempt: request(
      'fs/createSymlink',
      (arena, index) => ({
        path: arena.url(`tree/dir/${index % 2 === 0 ? 'file' : `made-${index}`}`),
        targetBase64: Buffer.from(arena.host.place.outside).toString('base64'),
        replace: index % 2 === 0,
        ...TIME,
      }),
      (arena, index) => {
        arena.restore('file');
        rmSync(arena.real(`made-${index}`), { force: true });
      },
    ),
  },
  {
    name: 'fs/writeFile with a time',
    protections: ['noFollow', 'policy'],
    attempt: request('fs/writeFile', (arena, index) => ({
      path: arena.url(index % 3 === 0 ? 'tree/dir/new' : 'tree/dir/file'),
      dataBase64: DATA,
      atomic: index % 2 === 0,
      ...TIME,
    })),
  },
  {
    name: 'fs/createDirectory with a time',
    protections: ['noFollow', 'policy'],
    attempt: request('fs/createDirectory', (arena, index) => ({
      path: arena.url(index % 2 === 0 ? 'tree/dir' : 'tree/dir/sub'),
      recursive: true,
      ...TIME,
    })),
  },
  { name: 'fs/copy with times', protections: ['policy'], attempt: copyWithTimes },
  { name: 'fs/close with another name and a time', protections: ['policy'], attempt: closeAs },
];

/** Both a directory that is swapped while it is emptied, and one that was swapped before. */
async function removeTree(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]> {
  const fresh = arena.path(`fresh-${index}`);
  mkdirSync(join(fresh, 'sub'), { recursive: true });
  for (const name of ['a', 'b', 'sub/c']) writeFileSync(join(fresh, name), HARMLESS);
  for (const name of ['', 'a', 'b', 'sub', 'sub/c']) arena.own(join(fresh, name));
  for (const step of [
    () => mkdirSync(arena.path('tree')),
    () => arena.own(arena.path('tree')),
    () => renameSync(fresh, arena.path('tree/dir')),
    () => symlinkSync(arena.host.place.outside, arena.path('link')),
  ])
    attempt(step);
  const answer = await arena.host.client.ask('fs/remove', { path: arena.url('tree'), ...more });
  rmSync(fresh, { recursive: true, force: true });
  return [answer];
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // It may be there already, or be a link just now.
  }
}

/** What was copied counts as told. */
async function copyTree(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]> {
  const name = `copy-${index}`;
  const answer = await arena.host.client.ask('fs/copy', {
    sourcePath: arena.url('tree'),
    destinationPath: arena.url(name),
    recursive: true,
    ...more,
  });
  const copied = contentsBelow(arena.path(name));
  rmSync(arena.path(name), { recursive: true, force: true });
  return [answer, { result: { copied } }];
}

/** Names and contents of a tree that nobody changes any more. Links are not followed. */
function contentsBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return [entry.name, ...contentsBelow(path)];
      return entry.isFile() ? [entry.name, readFileSync(path, 'utf8')] : [entry.name];
    });
  } catch {
    return [];
  }
}

async function openAndWrite(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]> {
  const { client } = arena.host;
  const handleId = `handle-${index}`;
  const mode = index % 2 === 0 ? 'replace' : 'read';
  const opened = await client.ask('fs/open', { handleId, path: arena.url('tree/dir/file'), mode, ...more });
  if (opened.error) return [opened];
  const block =
    mode === 'read'
      ? await client.ask('fs/readBlock', { handleId, offset: 0, len: 100 })
      : await client.ask('fs/writeBlock', { handleId, offset: 0, chunk: DATA });
  return [opened, block, await client.ask('fs/close', { handleId })];
}

/** From inside to where the link may lead, and the other way round. */
async function copyWithTimes(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]> {
  const names = ['tree/dir/sub', `kept-${index}`];
  const [source, destination] = index % 2 === 0 ? names : ['origin', `tree/dir/kept-${index}`];
  mkdirSync(arena.path('origin'), { recursive: true });
  arena.own(arena.path('origin'));
  const answer = await arena.host.client.ask('fs/copy', {
    sourcePath: arena.url(source as string),
    destinationPath: arena.url(destination as string),
    recursive: true,
    keepTimes: true,
    ...more,
  });
  const copied = contentsBelow(arena.path(`kept-${index}`));
  for (const made of [arena.path(`kept-${index}`), arena.real(`kept-${index}`)])
    rmSync(made, { recursive: true, force: true });
  return [answer, { result: { copied } }];
}

/** A new file that gets the name of one that is there. */
async function closeAs(arena: RaceArena, more: object, index: number): Promise<WireAnswer[]> {
  const { client } = arena.host;
  const handleId = `close-${index}`;
  const name = `tree/dir/part-${index}`;
  const opened = await client.ask('fs/open', { handleId, path: arena.url(name), mode: 'replace', ...more });
  if (opened.error) return [opened];
  const block = await client.ask('fs/writeBlock', { handleId, offset: 0, chunk: DATA });
  const closed = await client.ask('fs/close', { handleId, renameTo: arena.url('tree/dir/file'), ...TIME });
  rmSync(arena.real(`part-${index}`), { force: true });
  return [opened, block, closed];
}
