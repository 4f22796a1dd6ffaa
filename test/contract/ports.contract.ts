import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Environment, ExecProcess, ListeningPort, PortEvent } from '../../src/contract/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import type { OpenEnvironment } from './process.contract.js';

const LISTEN = fileURLToPath(new URL('../fixtures/listen.mjs', import.meta.url));

/** A program that listens, and the port it chose. */
export async function listening(
  env: Environment,
  { how = 'echo', host = '127.0.0.1', sandbox }: { how?: string; host?: string; sandbox?: string } = {},
): Promise<{ child: ExecProcess; port: number }> {
  const policy = sandbox === undefined ? null : namedSandbox({ policy: sandbox }, { workspace: '/tmp' });
  const child = await env.start({
    argv: [process.execPath, LISTEN, how, host],
    ...(policy ? { sandbox: policy } : {}),
  });
  for await (const line of child.lines()) return { child, port: Number(line) };
  throw new Error('it did not say where it listens');
}

/** Takes events until one fits. */
async function until(
  events: AsyncIterator<PortEvent>,
  fits: (event: PortEvent) => boolean,
): Promise<PortEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error('the watch ended');
    if (fits(value)) return value;
  }
}

/** Who listens where, in every environment. */
export function portsContract(name: string, open: OpenEnvironment): void {
  describe(`${name}: ports`, () => {
    test('a port is listed with its process', async () => {
      await using env = await open();
      expect(await env.ports()).toEqual([]);
      const { child, port } = await listening(env);
      const [row] = (await env.list()).filter(({ processId }) => processId === child.processId);
      const expected: ListeningPort = {
        port,
        address: '127.0.0.1',
        pid: row?.pid ?? null,
        processId: child.processId,
        sandboxed: false,
      };
      expect(await env.ports()).toEqual([expected]);
      await child.terminate();
      await child.wait();
      expect(await env.ports()).toEqual([]);
    });

    test('what left by setsid belongs to the process that started it, even after that has ended', async () => {
      await using env = await open();
      const script = `setsid ${process.execPath} ${LISTEN} >/dev/null 2>&1 &`;
      await using watch = await env.watchPorts();
      const events = watch[Symbol.asyncIterator]();
      const child = await env.start({ argv: ['sh', '-c', script] });
      await child.wait();
      const opened = await until(events, ({ type }) => type === 'opened');
      expect(opened).toMatchObject({ processId: child.processId, sandboxed: false });
      const [row] = (await env.list()).filter(({ processId }) => processId === child.processId);
      expect(opened.pid).not.toBe(row?.pid);
    });

    test('a watch tells of ports that open and close, and begins with those that are open', async () => {
      await using env = await open();
      const first = await listening(env, { host: '::1' });
      await using watch = await env.watchPorts();
      const events = watch[Symbol.asyncIterator]();
      expect((await events.next()).value).toMatchObject({ type: 'opened', port: first.port, address: '::1' });
      const second = await listening(env, { host: '0.0.0.0' });
      expect(await until(events, ({ type }) => type === 'opened')).toMatchObject({
        port: second.port,
        address: '0.0.0.0',
        processId: second.child.processId,
      });
      await first.child.terminate();
      expect(await until(events, () => true)).toMatchObject({ type: 'closed', port: first.port });
      await watch.close();
      expect((await events.next()).done).toBe(true);
    });

    test('a program without a network listens in its sandbox', async () => {
      await using env = await open();
      await using watch = await env.watchPorts();
      const { child, port } = await listening(env, { sandbox: 'read-only' });
      const opened = await until(watch[Symbol.asyncIterator](), ({ type }) => type === 'opened');
      expect(opened).toMatchObject({ port, processId: child.processId, sandboxed: true });
      expect(await env.ports()).toEqual([expect.objectContaining({ port, sandboxed: true })]);
    });

    test('what others listen on is listed for those who ask for the whole machine', async () => {
      await using env = await open();
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      expect(await env.ports()).toEqual([]);
      const row = (await env.ports({ scope: 'machine' })).find((each) => each.port === port);
      expect(row).toEqual({ port, address: '127.0.0.1', pid: null, processId: null, sandboxed: false });
      server.close();
    });
  });
}
