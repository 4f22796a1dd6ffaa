import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { CommandLine } from '../../testkit/command-line.mjs';

/** A machine that can be reached, and takes nobody. */
async function openRefusing(): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString());
      if (method !== 'initialize') return;
      socket.send(JSON.stringify({ id, error: { code: -32001, message: 'nobody is let in today' } }));
    });
  });
  await once(server, 'listening');
  return server;
}

// The client holds stdin open: nothing but the refusal ends the command.
test.each(['stdio', 'http://127.0.0.1:0'])('a refused session ends the command, on %s', async (listen) => {
  const server = await openRefusing();
  const { port } = server.address() as AddressInfo;
  const command = new CommandLine(['mcp', '-e', `ws://127.0.0.1:${port}`, '--listen', listen]);
  const { code, stdout, stderr } = await command.result();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('nobody is let in today');
  server.close();
  for (const socket of server.clients) socket.terminate();
});
