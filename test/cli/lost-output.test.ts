import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { bin, launch } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

let server: ServerProcess;
let kept: string;
let folder: TestFolder;
beforeAll(async () => {
  server = await ServerProcess.start();
  folder = new TestFolder();
  const { stdout } = await execwire(['run', '-e', server.url, '--detach', '--', 'seq', '200000']);
  kept = stdout.trim();
  await execwire(['wait', '-e', server.url, kept]);
}, 60_000);
afterAll(async () => {
  folder[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** What writes to stdout in a way of its own. */
const COMMANDS: readonly (readonly [name: string, words: () => string[], failure: number])[] = [
  ['--help', () => ['--help'], 1],
  ['--version', () => ['--version'], 1],
  ['completion', () => ['completion', 'bash'], 1],
  ['env list', () => ['env', 'list'], 1],
  ['ps', () => ['ps', '-e', server.url], 1],
  ['run', () => ['run', '-e', server.url, '--', 'seq', '200000'], 125],
  ['run, locally', () => ['run', '--', 'seq', '200000'], 125],
  ['logs', () => ['logs', '-e', server.url, kept], 1],
  ['logs --grep', () => ['logs', '-e', server.url, kept, '--grep', '9'], 1],
  ['logs --format', () => ['logs', '-e', server.url, kept, '--format', 'asciicast'], 1],
  ['watch', () => ['watch', '-e', server.url, kept], 1],
  ['cp', () => ['cp', `${server.url}:/proc/meminfo`, '-'], 1],
  ['play', () => ['play', '-e', server.url, kept], 1],
];

describe.each(COMMANDS)('%s', { timeout: 60_000 }, (_name, words, failure) => {
  test('ends without words when its reader has left', async () => {
    const child = launch([process.execPath, bin, ...words()], { env: { EXECWIRE_HOME: folder.path } });
    child.stdout.destroy();
    const said = child.stderr.toArray();
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, said: Buffer.concat(await said).toString() }).toEqual({ code: 141, said: '' });
  });

  test('says so when the disk is full', async () => {
    const argv = ['sh', '-c', 'exec "$@" > /dev/full', 'sh', process.execPath, bin, ...words()];
    const child = launch(argv, { env: { EXECWIRE_HOME: folder.path } });
    const said = child.stderr.toArray();
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, said: Buffer.concat(await said).toString() }).toEqual({
      code: failure,
      said: 'execwire: Cannot write to stdout: the disk is full.\n',
    });
  });
});
