import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nextDescriptor, openFilesLimit, setLimit } from '../harness/limits.js';
import { TestFolder } from '../harness/processes.js';
import { withoutRipgrep } from '../harness/without-ripgrep.js';
import { readOnly } from '../../testkit/sandboxes.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireAnswer, type WireClient } from '../../testkit/wire-client.mjs';

const FIRST_LIMIT = 20;
/** Beyond what the server has open, this many are enough for all requests at once. */
const ROOM = 40;

const WALK = {
  maxDepth: 8,
  maxDirectories: 100,
  maxEntries: 100,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

/** One request of every kind. */
function requests(folder: TestFolder, round: string): [string, Record<string, unknown>][] {
  const at = (name: string): string => pathToFileURL(folder.file(name)).href;
  const no = { followSymlinks: false };
  return [
    ['fs/readFile', { path: at('tree/file') }],
    ['fs/readFile', { path: at('tree/file'), ...no }],
    ['fs/writeFile', { path: at('written'), dataBase64: 'AAAA' }],
    ['fs/writeFile', { path: at('written'), dataBase64: 'AAAA', atomic: true }],
    ['fs/writeFile', { path: at('written'), dataBase64: 'AAAA', ...no }],
    ['fs/getMetadata', { path: at('tree/file') }],
    ['fs/getMetadata', { path: at('tree/file'), ...no }],
    ['fs/canonicalize', { path: at('tree/file') }],
    ['fs/readDirectory', { path: at('tree') }],
    ['fs/walk', { path: at('tree'), options: WALK }],
    ['fs/search', { path: at('tree'), pattern: 'needle' }],
    ['fs/search', { path: at('tree'), pattern: 'ne+dle', regex: true, globs: ['f*'] }],
    ['fs/createDirectory', { path: at(`made/${round}`), ...no }],
    ['fs/copy', { sourcePath: at('tree'), destinationPath: at(`copy-${round}`), recursive: true }],
    ['fs/remove', { path: at(`copy-${round}`) }],
    ['fs/open', { path: at('tree/file'), handleId: `handle-${round}` }],
    ['fs/close', { handleId: `handle-${round}` }],
    ['fs/watch', { path: at('tree'), watchId: round, recursive: true }],
    ['fs/unwatch', { watchId: round }],
  ];
}

/** What is wrong with an answer; nothing when it is a result, or says what is missing. */
function complaintAbout(answer: WireAnswer, method: string): string[] {
  const data: { code?: string; osCode?: string } | undefined = answer.error?.data;
  const isClear = data?.code === 'ioFailed' && (data.osCode === 'EMFILE' || data.osCode === 'EAGAIN');
  // A handle that could not be opened cannot be closed.
  const isConsequence = method === 'fs/close' && data?.code === 'notFound';
  return answer.error === undefined || isClear || isConsequence
    ? []
    : [`${method}: ${JSON.stringify(answer.error)}`];
}

async function connect(server: ServerProcess): Promise<WireClient> {
  const { client } = await dialWire(server.url);
  await client.handshake();
  return client;
}

describe.each(['with', 'without'])('file requests when descriptors run out, %s ripgrep', (kind) => {
  test('fail one by one, with the reason, and work again', { timeout: 120_000 }, async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('tree/sub/deeper'), { recursive: true });
    for (const name of ['file', 'sub/file', 'sub/deeper/file'])
      writeFileSync(folder.file(`tree/${name}`), 'a needle\n');
    await using server = await ServerProcess.start({
      env: kind === 'without' ? withoutRipgrep : {},
      args: ['--log-level', 'silent'],
    });
    const client = await connect(server);
    const usual = openFilesLimit(server.pid);
    const last = nextDescriptor(server.pid) + ROOM;
    const complaints: string[] = [];
    const refused = new Set<string>();
    const take = (answer: WireAnswer, method: string, where: string): void => {
      if (answer.error !== undefined) refused.add(method);
      complaints.push(...complaintAbout(answer, method).map((complaint) => `${where}, ${complaint}`));
    };
    for (let limit = FIRST_LIMIT; limit <= last; limit += 1) {
      setLimit(server.pid, 'nofile', limit);
      for (const [method, params] of requests(folder, `one-${limit}`))
        take(await client.ask(method, params), method, `limit ${limit}`);
      const together = requests(folder, `all-${limit}`).map(
        async ([method, params]) => [await client.ask(method, params), method] as const,
      );
      for (const [answer, method] of await Promise.all(together))
        take(answer, method, `limit ${limit}, all at once`);
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    }
    expect(complaints).toEqual([]);
    expect([...refused]).toEqual(expect.arrayContaining(['fs/readFile', 'fs/search', 'fs/copy', 'fs/watch']));
    setLimit(server.pid, 'nofile', usual);
    for (const [method, params] of requests(folder, 'after')) await client.call(method, params);
    const path = pathToFileURL(folder.file('tree')).href;
    const { matches } = await client.call('fs/search', { path, pattern: 'needle' });
    expect(matches).toHaveLength(3);
    expect(server.child.exitCode).toBeNull();
  });
});

test('file requests under a policy fail with a reason when descriptors run out', async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('file'), 'a needle\n');
  await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
  const client = await connect(server);
  const sandbox = readOnly(folder.path);
  const path = pathToFileURL(folder.file('file')).href;
  const ask = (): Promise<WireAnswer[]> =>
    Promise.all([
      client.ask('fs/readFile', { path, sandbox }),
      client.ask('fs/search', { path, pattern: 'needle', sandbox }),
      client.ask('fs/open', { path, handleId: 'handle', sandbox }),
    ]);
  const usual = openFilesLimit(server.pid);
  const last = nextDescriptor(server.pid) + ROOM;
  const codes = new Set<string | undefined>();
  for (let limit = FIRST_LIMIT; limit <= last; limit += 2) {
    setLimit(server.pid, 'nofile', limit);
    for (const { error } of await ask()) codes.add(error === undefined ? 'none' : error.data?.code);
    await client.ask('fs/close', { handleId: 'handle' });
  }
  expect(codes).toContain('ioFailed');
  expect([...codes].filter((code) => code === undefined || code === 'internalError')).toEqual([]);
  setLimit(server.pid, 'nofile', usual);
  expect((await ask()).map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
});

/** The answer to a first request; none for a client for whom there was no descriptor. */
async function firstAnswer(server: ServerProcess): Promise<WireAnswer | undefined> {
  try {
    const { client } = await dialWire(server.url);
    return await client.ask('initialize', { clientName: 'test' });
  } catch {
    return undefined;
  }
}

test('the first client of a server with few descriptors does not end it', async () => {
  const answers: (WireAnswer | undefined)[] = [];
  for (let room = 1; room <= 8; room += 1) {
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const usual = openFilesLimit(server.pid);
    // Once it has said where it listens the server starts its watchdog, which may take up the room for a moment.
    setLimit(server.pid, 'nofile', nextDescriptor(server.pid) + room);
    // What the machine can enforce may not be found out now; then the handshake says so.
    answers.push(await firstAnswer(server));
    setLimit(server.pid, 'nofile', usual);
    const later = await connect(server);
    expect(await later.call('environment/status')).toEqual({ status: 'ready' });
    expect(server.child.exitCode).toBeNull();
  }
  expect(answers.at(-1)).toBeDefined();
});
