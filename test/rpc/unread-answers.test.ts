import { describe, expect, test } from 'vitest';
import { type Channel, type ChannelReceiver, RpcPeer } from '../../src/rpc/index.js';

/** Somebody who asks and never reads what is answered, until told to. */
class DeafChannel implements Channel {
  readonly label = 'deaf';
  readonly #unread: (() => void)[] = [];
  receiver: ChannelReceiver | undefined;
  paused = false;

  open(receiver: ChannelReceiver): void {
    this.receiver = receiver;
  }

  send(_: unknown, flushed: () => void): void {
    this.#unread.push(flushed);
  }

  sendPart(_: Uint8Array, __: unknown, flushed: () => void): void {
    this.#unread.push(flushed);
  }

  /** Asks until it is no longer heard. Returns how often that was. */
  askUntilPaused(limit: number, text = '{"id":1,"method":"any"}'): number {
    let asked = 0;
    for (; asked < limit && !this.paused; asked += 1) this.receiver?.message(text);
    return asked;
  }

  readEverything(): void {
    for (const flushed of this.#unread.splice(0)) flushed();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  close(): void {}

  reject(): void {}

  destroy(): void {}
}

function serve(request: () => unknown): DeafChannel {
  const channel = new DeafChannel();
  new RpcPeer(channel, { request, notification: () => undefined, closed: () => undefined }).open();
  return channel;
}

const MEGABYTE = 'x'.repeat(1024 * 1024);
/** What fits before a peer stops listening, in megabytes. */
const ROOM = 32;
/** More than fit into a megabyte. */
const MANY_SHORT_ANSWERS = 50_000;

describe('somebody who asks without reading the answers', () => {
  test.each<[string, () => unknown, string]>([
    ['results', () => MEGABYTE, '{"id":1,"method":"any"}'],
    [
      'errors',
      () => {
        throw new Error('refused');
      },
      `{"id":"${MEGABYTE}","method":"any"}`,
    ],
  ])('is not heard any more when it is %s that pile up, until he reads', (_, request, text) => {
    const channel = serve(request);
    expect(channel.askUntilPaused(2 * ROOM, text)).toBe(ROOM);
    channel.readEverything();
    expect(channel.paused).toBe(false);
  });

  test('is not heard any more when he goes on with nonsense', () => {
    const channel = serve(() => MEGABYTE);
    channel.askUntilPaused(ROOM - 1);
    expect(channel.paused).toBe(false);
    expect(channel.askUntilPaused(MANY_SHORT_ANSWERS, 'nonsense')).toBeLessThan(MANY_SHORT_ANSWERS);
  });
});
