import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import type { WireAnswer } from '../../testkit/wire-client.mjs';
import { identities } from '../host/sandbox/harness.js';

const TIME = { modifiedAtUs: 1_000_000_000_000_000 };
const DATA = Buffer.from('changed').toString('base64');

type Ask = (method: string, params: object) => Promise<WireAnswer>;

/** Everything that sets a time or makes a link, each on what is in a directory. */
const operations: Readonly<Record<string, (ask: Ask, at: (name: string) => string) => Promise<WireAnswer>>> =
  {
    'fs/createSymlink': (ask, at) =>
      ask('fs/createSymlink', { path: at('made'), targetBase64: DATA, ...TIME }),
    'fs/createSymlink in place of a file': (ask, at) =>
      ask('fs/createSymlink', { path: at('file'), targetBase64: DATA, replace: true, ...TIME }),
    'fs/writeFile with a time': (ask, at) =>
      ask('fs/writeFile', { path: at('file'), dataBase64: DATA, ...TIME }),
    'fs/createDirectory with a time': (ask, at) => ask('fs/createDirectory', { path: at('sub'), ...TIME }),
    'fs/copy with times': (ask, at) =>
      ask('fs/copy', {
        sourcePath: at('sub'),
        destinationPath: at('copy'),
        recursive: true,
        keepTimes: true,
      }),
    'fs/close with another name and a time': async (ask, at) => {
      const handleId = crypto.randomUUID().slice(0, 8);
      const opened = await ask('fs/open', { handleId, path: at('part'), mode: 'replace' });
      if (opened.error) return opened;
      return await ask('fs/close', { handleId, renameTo: at('file'), ...TIME });
    },
  };

/** What can be told of a directory without following a link. */
function stateOf(directory: string): string[] {
  return ['', ...readdirSync(directory, { recursive: true }).map(String).toSorted()].map((name) => {
    const path = join(directory, name);
    const { ino, mtimeMs } = lstatSync(path);
    return `${name} ${ino} ${mtimeMs} ${lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''}`;
  });
}

describe.each(identities)('times and links, on a server of $name', (identity) => {
  let host: ConfinedServer;
  beforeAll(async () => {
    host = await ConfinedServer.start(identity);
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  beforeEach(() => {
    for (const top of [host.place.workspace, host.place.outside])
      for (const name of readdirSync(top)) rmSync(join(top, name), { recursive: true });
    for (const top of [join(host.place.workspace, 'dir'), host.place.outside]) {
      mkdirSync(join(top, 'sub'), { recursive: true });
      writeFileSync(join(top, 'file'), 'as it was');
      const { uid } = identity;
      if (uid !== undefined) for (const name of ['', 'sub', 'file']) chownSync(join(top, name), uid, uid);
    }
  });

  /** Whoever asks says which policy holds, except where a handle has one already. */
  const asking =
    (sandbox: object): Ask =>
    (method, params) =>
      host.client.ask(method, { ...params, ...(method === 'fs/close' ? {} : { sandbox }) });

  test.each(Object.keys(operations))('%s is refused where all is read-only', async (name) => {
    const policy = host.sandbox({
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries: [special('root', 'read')] },
        network: 'restricted',
      },
    });
    const directory = join(host.place.workspace, 'dir');
    const before = stateOf(directory);
    const at = (each: string): string => pathToFileURL(join(directory, each)).href;
    const answer = await operations[name]?.(asking(policy), at);
    expect(answer?.error).toBeDefined();
    expect(stateOf(directory)).toEqual(before);
  });

  test.each(Object.keys(operations))('%s does not get out of the workspace over a link', async (name) => {
    const ask = asking(host.sandbox());
    const way = join(host.place.workspace, 'way');
    const made = await ask('fs/createSymlink', {
      path: pathToFileURL(way).href,
      targetBase64: Buffer.from(host.place.outside).toString('base64'),
    });
    // A link may lead anywhere.
    expect(made.error).toBeUndefined();
    expect(readlinkSync(way)).toBe(host.place.outside);
    const before = stateOf(host.place.outside);
    const answer = await operations[name]?.(ask, (each) => pathToFileURL(join(way, each)).href);
    expect(answer?.error).toBeDefined();
    expect(stateOf(host.place.outside)).toEqual(before);
  });

  test.each(Object.keys(operations))('%s is done within the workspace', async (name) => {
    const directory = join(host.place.workspace, 'dir');
    const at = (each: string): string => pathToFileURL(join(directory, each)).href;
    const answer = await operations[name]?.(asking(host.sandbox()), at);
    expect(answer?.error).toBeUndefined();
  });
});
