import { existsSync, mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeepTree } from '../harness/deep-tree.js';
import { withoutRipgrep } from '../harness/without-ripgrep.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireClient } from '../../testkit/wire-client.mjs';

/** Far beyond what a path can name (2,047 levels) and what the server may open. */
const DEPTH = 3000;
const OPEN_FILES = 256;

/** As far as a walk may go. */
const WALK = {
  maxDepth: 64,
  maxDirectories: 10_000,
  maxEntries: 50_000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

interface Match {
  readonly path: string;
  readonly text: string;
}

describe.each(['with', 'without'])('a tree 3,000 levels deep, %s ripgrep', { timeout: 90_000 }, (kind) => {
  let tree: DeepTree;
  let server: ServerProcess;
  let client: WireClient;
  const at = (name: string): string => pathToFileURL(tree.at(name)).href;
  beforeAll(async () => {
    tree = new DeepTree(DEPTH);
    server = await ServerProcess.start({
      wrapper: ['/usr/bin/prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`],
      env: kind === 'without' ? withoutRipgrep : {},
      args: ['--log-level', 'silent'],
    });
    client = (await dialWire(server.url)).client;
    await client.handshake();
  });
  afterAll(async () => {
    await server.stop();
    tree[Symbol.dispose]();
  });

  test('is searched to its end', async () => {
    const { matches } = await client.call('fs/search', { path: at('tree'), pattern: 'needle' });
    const texts = (matches as Match[]).map(({ text }) => text);
    expect(texts.sort()).toEqual(tree.levels.map((level) => `needle ${level}`).sort());
    const deepest = (matches as Match[]).find(({ text }) => text === `needle ${DEPTH}`);
    expect(deepest?.path).toBe(`${at('tree')}${'/d'.repeat(DEPTH)}/file`);
  });

  test('is walked as far as a walk goes', async () => {
    const { entries, errors } = await client.call('fs/walk', { path: at('tree'), options: WALK });
    expect(entries).toHaveLength(65);
    expect(errors).toEqual([]);
  });

  test('is copied and removed', async () => {
    const paths = { sourcePath: at('tree'), destinationPath: at('copy') };
    await client.call('fs/copy', { ...paths, recursive: true });
    expect(tree.linesOf('copy')).toEqual(tree.levels.map((level) => `needle ${level}`).sort());
    await client.call('fs/remove', { path: at('copy') });
    expect(existsSync(tree.at('copy'))).toBe(false);
    expect(existsSync(tree.at('tree/d'))).toBe(true);
  });

  test('is watched as far as paths reach, and the rest is reported as overlooked', async () => {
    await client.call('fs/watch', { watchId: 'deep', path: at('tree'), recursive: true });
    const overflow = await client.until(() =>
      client.arrivals.find((each) => 'method' in each && each.method === 'fs/changed'),
    );
    expect(overflow).toMatchObject({ params: { watchId: 'deep', overflow: true } });
    mkdirSync(tree.at('tree/d/d/new'));
    await client.until(() => JSON.stringify(client.arrivals).includes('/tree/d/d/new'));
    await client.call('fs/unwatch', { watchId: 'deep' });
  });
});
