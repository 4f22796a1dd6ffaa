import { describe, expect, test } from 'vitest';
import { execDialect } from '../../src/protocol/dialects.js';
import { ExecError } from '../../src/protocol/index.js';
import { RpcPeer } from '../../src/rpc/index.js';
import { DeafChannel } from '../harness/deaf-channel.js';

function serve(request: (method: string) => unknown): DeafChannel {
  const channel = new DeafChannel();
  const handler = { request, notification: () => undefined, closed: () => undefined };
  new RpcPeer(channel, handler, { dialect: execDialect }).open();
  return channel;
}

const MEGABYTE = 'x'.repeat(1024 * 1024);
/** What fits before a peer stops listening, in megabytes. */
const ROOM = 32;
/** The same if other things have taken everything else. */
const LEAST_ROOM = 8;
/** More than fit into a megabyte. */
const MANY_SHORT_ANSWERS = 50_000;

describe('somebody who asks without reading the answers', () => {
  test.each<[string, () => unknown, string]>([
    ['results', () => MEGABYTE, '{"id":1,"method":"any"}'],
    [
      'errors',
      () => {
        throw new ExecError('invalidRequest', MEGABYTE);
      },
      '{"id":1,"method":"any"}',
    ],
  ])('is not heard any more when it is %s that pile up, until he reads', (_, request, text) => {
    const channel = serve(request);
    expect(channel.askUntilPaused(2 * ROOM, text)).toBe(ROOM);
    channel.readEverything();
    expect(channel.paused).toBe(false);
  });

  test('is not heard any more sooner if the connection holds other things for him', () => {
    const channel = new DeafChannel();
    const handler = {
      request: () => MEGABYTE,
      notification: () => undefined,
      closed: () => undefined,
    };
    const peer = new RpcPeer(channel, handler, { dialect: execDialect });
    peer.open();
    let held = 20;
    peer.account.count(() => held * MEGABYTE.length);
    expect(channel.askUntilPaused(2 * ROOM)).toBe(ROOM - held);
    channel.readEverything();
    expect(channel.paused).toBe(false);
    held = ROOM;
    expect(channel.askUntilPaused(2 * ROOM)).toBe(LEAST_ROOM);
  });

  test('has what is on its way already wait, in its order', () => {
    const asked: string[] = [];
    const channel = serve((method) => {
      asked.push(method);
      return MEGABYTE;
    });
    channel.askUntilPaused(2 * ROOM);
    for (const method of ['one', 'two', 'three']) channel.say(`{"id":1,"method":"${method}"}`);
    expect(asked).toHaveLength(ROOM);
    channel.readEverything();
    expect(asked.slice(ROOM)).toEqual(['one', 'two', 'three']);
  });

  test('is not heard any more when he goes on with nonsense', () => {
    const channel = serve(() => MEGABYTE);
    channel.askUntilPaused(ROOM - 1);
    expect(channel.paused).toBe(false);
    expect(channel.askUntilPaused(MANY_SHORT_ANSWERS, 'nonsense')).toBeLessThan(MANY_SHORT_ANSWERS);
  });
});
