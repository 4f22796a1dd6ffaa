import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ExecServer } from '../../src/server/index.js';
import { DeafChannel } from '../harness/deaf-channel.js';
import { startParams } from '../../testkit/wire-client.mjs';

const MIB = 1024 * 1024;
/** What a connection keeps for somebody who does not read before his requests wait, and one answer. */
const MOST = 32 * MIB + 2 * MIB;
/** Requests that fit into one piece of what a socket delivers. */
const AT_ONCE = 100;

test('somebody gets no more of a process than he reads, however often he asks at once', async () => {
  const server = new ExecServer();
  const channel = new DeafChannel();
  channel.deaf = false;
  void server.accept(channel);
  channel.say('{"id":1,"method":"initialize","params":{"clientName":"x"}}');
  await channel.hears('"sessionId"');
  channel.say('{"method":"initialized"}');
  const start = startParams('p', ['head', '-c', '1000000', '/dev/zero']);
  channel.say(JSON.stringify({ id: 2, method: 'process/start', params: start }));
  await channel.hears('process/closed');
  channel.deaf = true;
  for (let count = 0; count < AT_ONCE; count += 1)
    channel.say('{"id":3,"method":"process/read","params":{"processId":"p"}}');
  await nextTurn();
  expect(channel.unreadBytes).toBeGreaterThan(MIB);
  expect(channel.unreadBytes).toBeLessThan(MOST);
  channel.destroy();
  await server.close();
});
