import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { PackedPackage } from '../harness/packed-package.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const run = promisify(execFile);

const PAGE = `
  import { dialWebSocket, RemoteEnvironment } from 'execwire/client';
  globalThis.ask = async (url) => {
    const environment = await RemoteEnvironment.connect({ id: 'page', dial: () => dialWebSocket(url), resume: true });
    const { stdout, exitCode } = await environment.run(['sh', '-c', 'echo from afar; exit 3']);
    await environment.files.writeFile('/dev/null', new TextEncoder().encode('x'));
    await environment.close();
    return JSON.stringify({ stdout, exitCode });
  };
`;

const WS = join(dirname(fileURLToPath(import.meta.resolve('ws'))), 'index.js');

/** Runs a file as a page does: with web sockets, and without what only Node has. */
const BROWSER = `
  const [, page, url] = process.argv;
  globalThis.WebSocket = require(${JSON.stringify(WS)});
  const code = require('node:fs').readFileSync(page, 'utf8');
  new Function('process', 'Buffer', 'require', 'setImmediate', code)();
  globalThis.ask(url).then((answer) => process.stdout.write(answer));
`;

/** A program of somebody else, as a bundler makes it for a page. */
async function bundle({ project }: PackedPackage): Promise<string> {
  const [input, file] = [join(project, 'page.js'), join(project, 'bundled.js')];
  writeFileSync(input, PAGE);
  const made = await rolldown({
    input,
    platform: 'browser',
    // Whatever is not found is an error, above all what only Node has.
    onLog: (_level, { message }) => expect.fail(message),
  });
  await made.write({ file, format: 'iife' });
  await made.close();
  return file;
}

test('the client of the package runs in a page', { timeout: 120_000 }, async () => {
  using packed = new PackedPackage();
  const page = await bundle(packed);
  await using server = await ServerProcess.start();
  const { stdout } = await run(process.execPath, ['-e', BROWSER, page, server.url]);
  expect(stdout).toBe(JSON.stringify({ stdout: 'from afar\n', exitCode: 3 }));
});
