import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { BinaryMessage, type Channel } from '../../src/rpc/index.js';
import { parseTarget } from '../../src/transport/dial-target.js';
import { createMemoryChannels, relay, WebSocketListener } from '../../src/transport/index.js';
import { dialInBrowser } from '../../src/transport/websocket-browser.js';
import { FrameInbox } from '../../testkit/frames.mjs';
import { dialWire, sh, startParams, WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { type Served, serve } from '../harness/serve.js';

/** Larger than what a server sends in one piece. */
const CONTENT = Buffer.from(Uint8Array.from({ length: 5_000_000 }, (_, index) => index * 31));
const BLOCK = CONTENT.subarray(0, 100_000);

const folder = new TestFolder();
let server: Served;
beforeAll(async () => {
  server = await serve();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Counts the frames that go each way. */
function counted(channel: Channel): { channel: Channel; frames: { sent: number; received: number } } {
  const frames = { sent: 0, received: 0 };
  const open = channel.open.bind(channel);
  channel.open = (receiver) =>
    open({
      message: (text) => receiver.message(text),
      binary: (data) => {
        frames.received += 1;
        receiver.binary?.(data);
      },
      closed: (reason) => receiver.closed(reason),
    });
  const send = channel.send.bind(channel);
  channel.send = (message, flushed) => {
    if (message instanceof BinaryMessage) frames.sent += 1;
    send(message, flushed);
  };
  return { channel, frames };
}

/** A bit of everything that has bulk: input, output, a file and a block, there and back. */
async function exerciseAll(environment: RemoteEnvironment): Promise<void> {
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  await cat.write('hello');
  await cat.closeStdin();
  expect(await cat.text()).toBe('hello');
  const path = folder.file('content');
  await environment.files.writeFile(path, CONTENT);
  expect(CONTENT.equals(await environment.files.readFile(path))).toBe(true);
  await using handle = await environment.files.open(path, { mode: 'replace' });
  await handle.write(10, BLOCK);
  await using again = await environment.files.open(path);
  const { bytes, eof } = await again.read(10, 200_000);
  expect({ same: BLOCK.equals(bytes), eof }).toEqual({ same: true, eof: true });
}

describe('our client', () => {
  afterEach(() => void Reflect.deleteProperty(globalThis, 'WebSocket'));

  const inNode = (): Promise<Channel> => dialWebSocket(server.url);
  const inBrowser = (): Promise<Channel> => {
    // The `ws` package has the browser's interface too.
    Reflect.set(globalThis, 'WebSocket', WebSocket);
    return dialInBrowser(parseTarget(server.url), {});
  };

  test.each([
    ['in Node', inNode, {}, { sent: 3, received: 3 }],
    ['in a browser', inBrowser, {}, { sent: 3, received: 3 }],
    ['that does without them', inNode, { binaryFrames: false }, { sent: 0, received: 0 }],
  ])('%s', async (_name, dial, options, expected) => {
    const { channel, frames } = counted(await dial());
    await using environment = await RemoteEnvironment.connect({
      id: 'counted',
      dial: async () => channel,
      resume: false,
      ...options,
    });
    await exerciseAll(environment);
    expect(frames).toEqual(expected);
  });

  test('speaks text where the transport does', async () => {
    const [near, far] = createMemoryChannels();
    void relay(far, await dialWebSocket(server.url));
    await using environment = await RemoteEnvironment.connect({
      id: 'relayed',
      dial: async () => near,
      resume: false,
    });
    await exerciseAll(environment);
    expect(environment.client.serverCapabilities).not.toHaveProperty('binaryFrames');
  });
});

describe('a relay', () => {
  test('between two WebSockets passes frames on', async () => {
    const far = await dialWebSocket(server.url);
    const listener = await WebSocketListener.open({
      address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
      onConnection: (channel) => void relay(channel, far),
    });
    const { client, socket } = await dialWire(listener.url);
    const inbox = new FrameInbox(socket);
    await client.handshake({ capabilities: { binaryFrames: true } });
    await client.call('process/start', startParams('p', sh('printf hello')));
    await client.closedEvents('p');
    expect(inbox.frames).toMatchObject([{ bytes: Buffer.from('hello') }]);
    socket.terminate();
    await listener.close();
  });

  test('from a side that moves text alone turns frames into text', async () => {
    const [near, far] = createMemoryChannels();
    void relay(far, await dialWebSocket(server.url));
    const client = new WireClient({
      send: (text) => near.send(text, () => undefined),
      onText: (listener) => near.open({ message: listener, closed: () => undefined }),
      onClose: () => undefined,
      close: () => near.close('done'),
    });
    // Whoever talks over the relay cannot know that there is a WebSocket behind it, and asks for frames.
    await client.handshake({ capabilities: { binaryFrames: true } });
    await client.call('process/start', startParams('p', sh('printf hello')));
    await client.closedEvents('p');
    expect(client.output('p').toString()).toBe('hello');
    client.close();
  });
});
