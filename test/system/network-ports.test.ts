// Needs: bwrap
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { all } from '../contract/port-streams.contract.js';
import { listening } from '../contract/ports.contract.js';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

const rules = { policy: 'workspace-write', network: { allow: ['registry.example'] } };

describe.each(['here', 'on a server'])('ports of programs under rules for hosts, %s', (where) => {
  const open = () => openEnvironment(where === 'here' ? 'local' : server.url, { sandbox: rules });

  test('are listed, without that of our proxy beside them', async () => {
    await using env = await open();
    await using watch = await env.watchPorts();
    const { child, port } = await listening(env);
    const expected = { port, processId: child.processId, sandboxed: true };
    expect((await watch[Symbol.asyncIterator]().next()).value).toMatchObject({ type: 'opened', ...expected });
    expect(await env.ports()).toEqual([expect.objectContaining(expected)]);
    const inside = (await env.ports({ scope: 'machine' })).filter(({ sandboxed }) => sandboxed);
    expect(inside).toEqual([expect.objectContaining(expected)]);
  });

  test('are reached, and so are those of another program of the session', async () => {
    await using env = await open();
    const first = await listening(env);
    const second = await listening(env, { how: 'hello' });
    const stream = await env.connect(first.port);
    stream.end('through');
    expect((await all(stream)).toString()).toBe('through');
    await using forward = await env.forward(second.port, { localPort: 0 });
    const client = createConnection({ host: '127.0.0.1', port: forward.localPort, allowHalfOpen: true });
    expect((await all(client)).toString()).toBe('hello');
    client.end();
  });

  test('are gone with the program: open connections break, and new ones are refused', async () => {
    await using env = await open();
    const { child, port } = await listening(env);
    const stream = await env.connect(port);
    stream.write('x');
    expect(String((await once(stream, 'data'))[0])).toBe('x');
    // `once` from node:events would reject if the connection breaks with an error, which depends on what arrives first.
    const over = new Promise<void>((resolve) => stream.on('error', () => undefined).once('close', resolve));
    await child.terminate();
    await child.wait();
    stream.write('y');
    stream.end();
    await over;
    await expect(env.connect(port)).rejects.toMatchObject({ code: 'portRefused' });
    expect(await env.ports()).toEqual([]);
  });

  test('the port of the proxy inside is nothing to connect to', async () => {
    await using env = await open();
    const { child, port } = await listening(env);
    const { stdout } = await env.run(['sh', '-c', 'echo "${HTTP_PROXY##*:}"']);
    const proxyPort = Number(stdout);
    expect(proxyPort).not.toBe(port);
    for (const processId of [undefined, child.processId])
      await expect(env.connect(proxyPort, { processId })).rejects.toMatchObject({ code: 'portRefused' });
  });
});
