import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { dialInBrowser } from '../../src/transport/websocket-browser.js';
import { parseTarget } from '../../src/transport/dial-target.js';
import { WebSocket } from 'ws';
import { serve, type Served } from '../harness/serve.js';

let server: Served;
let environment: RemoteEnvironment;

beforeAll(async () => {
  server = await serve();
  environment = await RemoteEnvironment.connect({
    id: 'ws',
    dial: () => dialWebSocket(server.url),
    resume: true,
  });
});

afterAll(async () => {
  await environment.close();
  await server[Symbol.asyncDispose]();
});

const sh = (script: string): string[] => ['/bin/sh', '-c', script];

describe('over a WebSocket to our server', () => {
  test('output, streams and exit code', async () => {
    const child = await environment.start({ argv: sh('echo out; echo err >&2; exit 3') });
    const [out, err, end] = await Promise.all([
      child.text(),
      new Response(child.stderr).text(),
      child.wait(),
    ]);
    expect({ out, err, end }).toEqual({ out: 'out\n', err: 'err\n', end: { kind: 'exited', exitCode: 3 } });
  });

  test('input until it is closed', async () => {
    const child = await environment.start({ argv: ['/bin/cat'], pipeStdin: true });
    expect(await child.write('one ')).toBe('accepted');
    expect(await child.write(new TextEncoder().encode('two'))).toBe('accepted');
    await child.closeStdin();
    expect(await child.text()).toBe('one two');
  });

  test('a terminal of a chosen size, resized', async () => {
    const script = 'stty size; read line; stty size';
    const child = await environment.start({ argv: sh(script), tty: true, size: { rows: 10, cols: 20 } });
    const lines = child.lines();
    expect((await lines.next()).value).toBe('10 20');
    await child.resize({ rows: 30, cols: 40 });
    await child.write('\n');
    expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
    expect((await child.text()).trim().split(/\s*\n/).at(-1)).toBe('30 40');
  });

  test('signals by name, and the end they make', async () => {
    const child = await environment.start({ argv: ['/bin/sleep', '1000'] });
    await child.signal('SIGUSR1');
    expect(await child.wait()).toEqual({ kind: 'signalled', exitCode: 138, signal: 'SIGUSR1' });
  });

  test('a time limit kept by the server', async () => {
    const child = await environment.start({ argv: ['/bin/sleep', '1000'], timeoutMs: 50 });
    expect(await child.wait()).toMatchObject({ kind: 'timedOut' });
  });

  test('a failed start says why and leaves the id free', async () => {
    const spec = { argv: ['/does/not/exist'], processId: 'again' };
    await expect(environment.start(spec)).rejects.toMatchObject({ code: 'spawnFailed' });
    await using child = await environment.start({ ...spec, argv: ['/bin/sleep', '1000'] });
    expect((await environment.list()).find(({ processId }) => processId === 'again')).toMatchObject({
      argv: ['/bin/sleep', '1000'],
      exited: false,
    });
    expect(await child.terminate({ graceMs: 10_000 })).toBe(true);
    expect(await child.wait()).toMatchObject({ kind: 'signalled', signal: 'SIGTERM' });
    expect(await child.terminate()).toBe(false);
  });

  test('a reader that takes its time loses nothing, and the program waits for it', async () => {
    const bytes = 8_000_000;
    const child = await environment.start({ argv: sh(`head -c ${bytes} /dev/zero; echo done >&2`) });
    const peer = await environment.start({ argv: sh('echo not held up') });
    expect(await peer.text()).toBe('not held up\n');
    const { nextSeq, exited } = await child.read();
    expect({ exited, some: nextSeq > 0 }).toEqual({ exited: false, some: true });
    let received = 0;
    for await (const event of child.events()) {
      if (event.type === 'output' && event.stream === 'stdout') received += event.bytes.length;
    }
    expect(received).toBe(bytes);
  });

  test('waiting without reading lets the output pass, and a later reader learns how much is gone', async () => {
    const bytes = 4_000_000;
    const child = await environment.start({ argv: sh(`head -c ${bytes} /dev/zero`) });
    expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
    let [kept, lost] = [0, 0];
    for await (const event of child.events()) {
      if (event.type === 'output') kept += event.bytes.length;
      if (event.type === 'gap') lost += event.lostBytes;
    }
    expect(kept + lost).toBe(bytes);
    expect(kept).toBeGreaterThan(500_000);
  });

  test('many short processes at once', async () => {
    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const child = await environment.start({ argv: sh(`echo ${index}`) });
        return await child.text();
      }),
    );
    expect(texts).toEqual(Array.from({ length: 40 }, (_, index) => `${index}\n`));
  });

  test('a read waits for news', async () => {
    const child = await environment.start({ argv: ['/bin/cat'], pipeStdin: true });
    const read = child.read({ waitMs: 60_000 });
    await child.write('x');
    expect((await read).chunks).toMatchObject([{ seq: 1, lostBytes: 0 }]);
    await child.terminate();
  });
});

test('the way a browser connects works as well', async () => {
  // The `ws` package has the browser's interface too.
  Reflect.set(globalThis, 'WebSocket', WebSocket);
  const target = parseTarget(server.url);
  await using browser = await RemoteEnvironment.connect({
    id: 'browser',
    dial: () => dialInBrowser(target, {}),
    resume: true,
  });
  const child = await browser.start({ argv: sh('head -c 3000000 /dev/zero') });
  expect(await child.text()).toHaveLength(3_000_000);
  await expect(dialInBrowser(parseTarget('ws://127.0.0.1:1'), {})).rejects.toMatchObject({
    code: 'notConnected',
  });
  Reflect.deleteProperty(globalThis, 'WebSocket');
});
