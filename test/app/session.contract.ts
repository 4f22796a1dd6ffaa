import { describe, expect, test } from 'vitest';
import type { OpenApp } from '../../testkit/app-server.mjs';

const CLIENT = { clientInfo: { name: 'test', version: '1' } };
const PROFILE = { command: ['true'], permissionProfile: ':read-only' };

/** Envelope, handshake and gates. */
export function sessionContract(name: string, open: OpenApp): void {
  describe(`${name}: session`, () => {
    test('the handshake tells about the server and needs no notification', async () => {
      await using app = await open({ env: { CODEX_HOME: '/some/home' } });
      const { client } = app;
      expect(await client.call('initialize', CLIENT)).toEqual({
        userAgent: expect.stringMatching(/^test\/\S+ \(.*\) execwire \(test; 1\)$/),
        codexHome: '/some/home',
        platformFamily: 'unix',
        platformOs: process.platform,
      });
      expect(await client.call('command/exec', { command: ['true'] })).toMatchObject({ exitCode: 0 });
    });

    test('what does not decode comes before "not initialized", that before the gate', async () => {
      await using app = await open();
      const { client } = app;
      expect(await client.refusal('nope/nope', {})).toEqual([
        -32600,
        'Invalid request: unknown variant `nope/nope`',
      ]);
      const [code, text] = await client.refusal('process/kill', { processHandle: 3 });
      expect([code, text.startsWith('Invalid request: ')]).toEqual([-32600, true]);
      expect(await client.refusal('process/kill', { processHandle: 'x' })).toEqual([
        -32600,
        'Not initialized',
      ]);
    });

    test('a refused handshake can be repeated, an accepted one cannot', async () => {
      await using app = await open();
      const { client } = app;
      const codes = [
        await client.refusal('initialize', { clientInfo: { name: 'a\nb', version: '1' } }),
        await client.refusal('initialize', { clientInfo: { name: 'test' } }),
        await client.refusal('initialize', undefined),
      ].map(([code]) => code);
      expect(codes).toEqual([-32600, -32600, -32600]);
      await client.call('initialize', { ...CLIENT, capabilities: null });
      expect(await client.refusal('initialize', CLIENT)).toEqual([-32600, 'Already initialized']);
    });

    test('without experimentalApi its methods and fields are refused, after decoding', async () => {
      await using app = await open();
      const client = await app.client.initialize({});
      const needs = (what: string): [number, string] => [
        -32600,
        `${what} requires experimentalApi capability`,
      ];
      expect(await client.refusal('process/kill', { processHandle: 'x' })).toEqual(needs('process/kill'));
      expect(await client.refusal('environment/status', { environmentId: 'x' })).toEqual(
        needs('environment/status'),
      );
      expect(await client.refusal('command/exec', PROFILE)).toEqual(needs('command/exec.permissionProfile'));
      expect((await client.refusal('process/kill', { processHandle: 3 }))[1]).toMatch(/^Invalid request: /);
      expect(await client.call('fs/getMetadata', { path: '/' })).toMatchObject({ isDirectory: true });
    });

    test('notifications carry the time and stay away when not wanted', async () => {
      await using app = await open();
      const unwanted = ['process/outputDelta', 'never/heard/of'];
      const client = await app.client.initialize({
        experimentalApi: true,
        optOutNotificationMethods: unwanted,
      });
      const before = Date.now();
      const command = ['sh', '-c', 'echo hi'];
      await client.call('process/spawn', {
        command,
        processHandle: 'p',
        cwd: '/',
        streamStdoutStderr: true,
      });
      await client.exited('p');
      const [exited] = client.notifications('process/exited');
      expect(exited?.emittedAtMs).toBeGreaterThanOrEqual(before);
      expect(Object.keys(exited ?? {})).toEqual(['method', 'params', 'emittedAtMs']);
      expect(client.notifications('process/outputDelta')).toEqual([]);
    });

    test('broken messages, odd ids, stray answers and unknown notifications get no answer', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      for (const text of [
        'this is not JSON',
        '[]',
        '{}',
        '"text"',
        '{"id":null,"method":"fs/getMetadata","params":{"path":"/"}}',
        '{"id":1.5,"method":"fs/getMetadata","params":{"path":"/"}}',
        '{"id":77,"result":{}}',
        '{"id":77,"error":{"code":1,"message":"x"}}',
        '{"method":"some/thing","params":[1]}',
      ]) {
        client.wire.send(text);
      }
      const seen = client.wire.arrivals.length;
      await client.call('fs/getMetadata', { path: '/' });
      expect(client.wire.arrivals.length).toBe(seen + 1);
    });

    test('ids keep their type and digits; two requests with one id are both answered', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const ask = (id: string): void =>
        client.wire.send(
          `{"jsonrpc":"2.0","id":${id},"method":"fs/getMetadata","params":{"path":"/","x":1}}`,
        );
      ask('7');
      ask('7');
      ask('"7"');
      const answers = (): unknown[] => client.wire.arrivals.filter((each) => 'id' in each && each.id === 7);
      await client.wire.until(() => answers().length === 2);
      expect(await client.wire.answerTo('7')).toMatchObject({ id: '7', result: { isDirectory: true } });
      expect('jsonrpc' in (await client.wire.answerTo(7))).toBe(false);
    });
  });
}
