import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CommandLine } from '../../testkit/command-line.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const MEBIBYTE = 1024 * 1024;
/** Several copies one after the other, on a machine that may be busy. */
const PATIENCE_MS = 150_000;

/** Everything below a folder, with content and permissions, in a form to compare. */
function listing(folder: string): string {
  const script = "find . -printf '%M %p\\n' | sort; find . -type f -exec sha256sum {} + | sort";
  return execFileSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
}

/** A folder with `source`: small files in directories, private ones among them, and large ones. */
function prepare(): TestFolder {
  const folder = new TestFolder();
  for (let directory = 0; directory < 5; directory += 1) {
    const path = folder.file(`source/${directory}/deeper/still`);
    mkdirSync(path, { recursive: true, mode: directory === 0 ? 0o700 : 0o755 });
    for (let index = 0; index < 40; index += 1)
      writeFileSync(`${path}/${index}`, randomBytes(3000), { mode: index % 2 === 0 ? 0o600 : 0o755 });
    writeFileSync(folder.file(`source/${directory}/large`), randomBytes(5 * MEBIBYTE + 17));
  }
  return folder;
}

/** A copy of the whole folder through a proxy, one way or the other. */
function copyThrough(folder: TestFolder, { url }: FaultProxy, direction: 'up' | 'down'): CommandLine {
  const [from, to] = [folder.file('source'), folder.file('copy')];
  return new CommandLine(['cp', ...(direction === 'up' ? [from, `${url}:${to}`] : [`${url}:${from}`, to])]);
}

/** When the server has answered this much, in parts of all it answers without a cut. */
async function answersOf(direction: 'up' | 'down', server: ServerProcess): Promise<number> {
  using folder = prepare();
  await using proxy = await FaultProxy.to(server.url);
  expect(await copyThrough(folder, proxy, direction).result()).toMatchObject({ code: 0, stderr: '' });
  return proxy.bytesToClients;
}

/** Cuts whenever so many bytes have come back; what is done is taken off the list. */
async function cutAt(proxy: FaultProxy, totals: number[]): Promise<void> {
  for (let next = totals[0]; next !== undefined; next = totals[0]) {
    await proxy.afterBytes(next - proxy.bytesToClients);
    totals.shift();
    proxy.cut();
  }
}

describe.each(['up', 'down'] as const)('a copy of a tree, %s', (direction) => {
  test(
    'goes on after its connection was cut, wherever that was',
    async () => {
      await using server = await ServerProcess.start();
      const all = await answersOf(direction, server);
      for (let round = 0; round < 3; round += 1) {
        using folder = prepare();
        await using proxy = await FaultProxy.to(server.url);
        // Not in the handshake, which a program may fail with: it is up to a fifth of what a server says to an upload.
        const cuts = Array.from({ length: 3 }, () => all * (0.3 + 0.6 * Math.random())).sort((a, b) => a - b);
        void cutAt(proxy, cuts);
        expect(await copyThrough(folder, proxy, direction).result()).toMatchObject({ code: 0, stderr: '' });
        expect(cuts).toEqual([]);
        expect(listing(folder.file('copy'))).toBe(listing(folder.file('source')));
      }
    },
    PATIENCE_MS,
  );

  test(
    'goes on with a server that was started again',
    async () => {
      const first = await ServerProcess.start();
      await using second = await ServerProcess.start();
      const all = await answersOf(direction, second);
      using folder = prepare();
      await using proxy = await FaultProxy.to(first.url);
      const copy = copyThrough(folder, proxy, direction);
      await proxy.afterBytes(all / 2);
      proxy.interrupt();
      await first.stop();
      proxy.leadTo(second.url);
      proxy.restore();
      expect(await copy.result()).toMatchObject({ code: 0, stderr: '' });
      expect(listing(folder.file('copy'))).toBe(listing(folder.file('source')));
    },
    PATIENCE_MS,
  );
});
