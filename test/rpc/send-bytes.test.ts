import { expect, test } from 'vitest';
import { execDialect } from '../../src/protocol/dialects.js';
import { BytesResult, type CloseReason, RpcPeer } from '../../src/rpc/index.js';
import { type ByteSource } from '../../src/rpc/bytes-result.js';
import { createMemoryChannels } from '../../src/transport/memory.js';

/** Ends in the middle, as a disk that breaks does. */
class BreakingSource implements ByteSource {
  closed = false;
  #pieces = 2;

  async read(target: Uint8Array): Promise<number> {
    if (this.#pieces === 0) throw new Error('the disk broke');
    this.#pieces -= 1;
    return target.fill(1).length;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

for (const framed of [false, true]) {
  test(`half an answer ends the connection and lets its source go${framed ? ', as a frame too' : ''}`, async () => {
    const [near, far] = createMemoryChannels();
    const source = new BreakingSource();
    const handler = {
      request: () => new BytesResult({ member: 'dataBase64', bytes: source }),
      notification: () => undefined,
      closed: () => undefined,
    };
    const peer = new RpcPeer(near, handler, { dialect: execDialect });
    peer.sendsBytes = framed;
    peer.open();
    const heard: string[] = [];
    const ended = new Promise<CloseReason>((closed) =>
      far.open({ message: (text) => heard.push(text), closed }),
    );
    far.send('{"id":1,"method":"fs/readFile","params":{}}', () => undefined);
    expect((await ended).clean).toBe(false);
    expect(heard).toEqual([]);
    expect(source.closed).toBe(true);
  });
}
