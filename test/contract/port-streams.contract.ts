import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ConfinedEnvironment } from '../../src/contract/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { listening } from './ports.contract.js';
import type { OpenEnvironment } from './process.contract.js';

const MIB = 1024 * 1024;

/** Everything a stream says until its end. */
export async function all(stream: Duplex): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Connections to ports, in every environment. */
export function portStreamsContract(name: string, open: OpenEnvironment): void {
  describe(`${name}: connections to ports`, () => {
    test.each([undefined, 'read-only'])(
      'bytes go both ways, and each direction ends by itself (%s)',
      async (sandbox) => {
        await using env = await open();
        const { port } = await listening(env, { how: 'whole', ...(sandbox ? { sandbox } : {}) });
        const stream = await env.connect(port);
        const sent = randomBytes(3 * MIB + 17);
        stream.end(sent);
        expect(digest(await all(stream))).toBe(digest(sent));
      },
    );

    test('a program that speaks first, on IPv6, and ends', async () => {
      await using env = await open();
      const { port } = await listening(env, { how: 'hello', host: '::1' });
      const stream = await env.connect(port);
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      await once(stream, 'end');
      expect(Buffer.concat(parts).toString()).toBe('hello');
      stream.end();
      await finished(stream);
    });

    test('five hundred at once, in a sandbox', { timeout: 60_000 }, async () => {
      await using env = await open();
      const { port, child } = await listening(env, { sandbox: 'read-only' });
      const { processId } = child;
      const replies = await Promise.all(
        Array.from({ length: 500 }, async (_, index) => {
          const stream = await env.connect(port, { processId });
          stream.end(`number ${index}`);
          return (await all(stream)).toString();
        }),
      );
      expect(replies).toEqual(replies.map((_, index) => `number ${index}`));
    });

    test('a program that does not read stops its writer, and others go on', async () => {
      await using env = await open();
      const deaf = await listening(env, { how: 'deaf' });
      const echo = await listening(env);
      const stuck = await env.connect(deaf.port);
      stuck.on('error', () => undefined);
      const block = Buffer.alloc(MIB);
      let written = 0;
      while (written < 64 * MIB) {
        const isFull = !stuck.write(block);
        written += block.length;
        if (isFull && !(await Promise.race([once(stuck, 'drain'), probe()]))) break;
      }
      expect(written).toBeLessThan(64 * MIB);
      const other = await env.connect(echo.port);
      other.end('through');
      expect((await all(other)).toString()).toBe('through');

      /** False once a whole exchange with the other program took place meanwhile, ten times. */
      async function probe(): Promise<boolean> {
        for (let round = 0; round < 10; round += 1) {
          const stream = await env.connect(echo.port);
          stream.end('x');
          await all(stream);
        }
        return false;
      }
    });

    test('a reader that pauses holds the program, which loses nothing', async () => {
      await using env = await open();
      const { port } = await listening(env, { how: 'flood' });
      const stream = await env.connect(port);
      await once(stream, 'readable');
      let count = 0;
      for await (const part of stream) {
        expect((part as Buffer).every((byte) => byte === 'f'.charCodeAt(0))).toBe(true);
        count += (part as Buffer).length;
        if (count > 4 * MIB) break;
      }
    });

    test('a program that breaks the connection fails the stream', async () => {
      await using env = await open();
      const { port } = await listening(env, { how: 'reset' });
      const stream = await env.connect(port);
      stream.write('x');
      await expect(all(stream)).rejects.toThrow();
    });

    test('a port that nobody listens on is refused, early or not', async () => {
      await using env = await open();
      const { port, child } = await listening(env);
      await child.terminate();
      await child.wait();
      await expect(env.connect(port)).rejects.toMatchObject({ code: 'portRefused' });
      await expect(env.connect(port, { processId: 'nobody' })).rejects.toMatchObject({ code: 'portRefused' });
    });

    test('under a policy, only ports of own processes can be reached', async () => {
      await using env = await open();
      const sandbox = namedSandbox({ policy: 'read-only' }, { workspace: '/tmp' });
      if (!sandbox) throw new Error('there is no such policy');
      const confined = new ConfinedEnvironment(env, sandbox);
      const own = await listening(confined, { how: 'hello' });
      expect((await all(await confined.connect(own.port))).toString()).toBe('hello');
      const { createServer } = await import('node:net');
      const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      await expect(confined.connect(port)).rejects.toMatchObject({ code: 'portRefused' });
      const plain = await env.connect(port);
      plain.destroy();
      server.close();
    });

    test('forward makes a port available here', async () => {
      await using env = await open();
      const { port } = await listening(env, { sandbox: 'read-only' });
      await using forward = await env.forward(port, { localPort: 0 });
      const replies = await Promise.all(
        ['127.0.0.1', '127.0.0.1', '127.0.0.1'].map(async (host, index) => {
          const client = createConnection({ host, port: forward.localPort, allowHalfOpen: true });
          client.end(`client ${index}`);
          return (await all(client)).toString();
        }),
      );
      expect(replies).toEqual(['client 0', 'client 1', 'client 2']);
    });
  });
}
