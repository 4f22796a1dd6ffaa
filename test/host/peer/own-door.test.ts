import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bin, firstLine } from '../../../testkit/launch.mjs';
import { ServerProcess } from '../../../testkit/server-process.mjs';
import { isOwnDoor } from '../../../src/host/peer/index.js';

const STRANGER = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

/** A server of somebody else's, called with these words as well. */
async function startStranger(...words: string[]) {
  const child = spawn(process.execPath, ['-e', STRANGER, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  return { child, port: Number(await firstLine(child)) };
}

test('a port is judged anew when another socket listens there', async () => {
  const { child, port } = await startStranger();
  const gone = once(child, 'exit');
  for (let round = 0; round < 10; round += 1) expect(isOwnDoor('127.0.0.1', port)).toBe(false);
  child.kill();
  await gone;
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(isOwnDoor('127.0.0.1', port)).toBe(true);
  server.close();
  await once(server, 'close');
  expect(isOwnDoor('127.0.0.1', port)).toBe(false);
});

test('a server of ours is one, whatever options Node was given before it', async () => {
  const options = ['--no-warnings', '--trace-uncaught', '--max-old-space-size=200', '--enable-source-maps'];
  const child = spawn(process.execPath, [...options, bin, 'serve', '--listen', 'ws://127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const { port } = new URL(await firstLine(child));
  expect(isOwnDoor('127.0.0.1', Number(port))).toBe(true);
  await using other = await ServerProcess.start();
  expect(isOwnDoor('127.0.0.1', Number(new URL(other.url).port))).toBe(true);
});

test('a server that was merely told of ours is none', async () => {
  const { port } = await startStranger('/srv/execwire-data', '{"cwd":"/srv/execwire-1"}');
  expect(isOwnDoor('127.0.0.1', port)).toBe(false);
});
