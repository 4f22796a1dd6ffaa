import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { isOwnDoor } from '../../../src/host/peer/index.js';

const STRANGER = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

test('a port is judged anew when another socket listens there', async () => {
  const stranger = spawn(process.execPath, ['-e', STRANGER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(stranger, 'exit');
  const [line] = (await once(stranger.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  for (let round = 0; round < 10; round += 1) expect(isOwnDoor('127.0.0.1', port)).toBe(false);
  stranger.kill();
  await gone;
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(isOwnDoor('127.0.0.1', port)).toBe(true);
  server.close();
  await once(server, 'close');
  expect(isOwnDoor('127.0.0.1', port)).toBe(false);
});
