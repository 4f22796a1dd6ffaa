import { describe, expect, test } from 'vitest';
import type { OpenApp } from '../../testkit/app-server.mjs';

/** `environment/*`, and `environmentId` on the other methods. */
export function environmentContract(name: string, open: OpenApp): void {
  describe(`${name}: environment`, () => {
    test('local is there and ready', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      expect(await client.call('environment/status', { environmentId: 'local' })).toEqual({
        status: 'ready',
      });
      expect(await client.call('environment/info', { environmentId: 'local' })).toEqual({
        shell: { name: expect.any(String), path: expect.stringMatching(/^\//) },
        cwd: expect.stringMatching(/^file:\/\/\//),
      });
      const here = { command: ['echo', 'here'], environmentId: 'local' };
      expect(await client.call('command/exec', here)).toMatchObject({ stdout: 'here\n' });
    });

    test('unknown ids: told by status, refused by the others', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const environmentId = 'nowhere';
      expect(await client.call('environment/status', { environmentId })).toEqual({
        status: 'unknown',
        error: expect.any(String),
      });
      expect((await client.refusal('environment/info', { environmentId }))[0]).toBe(-32600);
      expect((await client.refusal('command/exec', { command: ['true'], environmentId }))[0]).toBe(-32600);
      expect((await client.refusal('fs/readFile', { path: '/x', environmentId }))[0]).toBe(-32600);
      const spawn = { command: ['true'], processHandle: 'x', cwd: '/', environmentId };
      expect((await client.refusal('process/spawn', spawn))[0]).toBe(-32600);
    });

    test('ids and addresses that cannot work are refused when added', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const url = 'ws://127.0.0.1:1';
      for (const [environmentId, execServerUrl] of [
        ['', url],
        ['local', url],
        ['none', url],
        ['with space', url],
        ['a'.repeat(65), url],
        ['a', ''],
        ['a', '   '],
        ['a', 'none'],
        ['a', 'http://127.0.0.1:1'],
        ['a', 'notaurl'],
        ['a', 'ws://'],
      ]) {
        const [code] = await client.refusal('environment/add', { environmentId, execServerUrl });
        expect([environmentId, execServerUrl, code]).toEqual([environmentId, execServerUrl, -32600]);
      }
      const negative = { environmentId: 'a', execServerUrl: url, connectTimeoutMs: -1 };
      expect((await client.refusal('environment/add', negative))[1]).toMatch(/^Invalid request: /);
      expect(await client.call('environment/status', { environmentId: 'a' })).toMatchObject({
        status: 'unknown',
      });
    });

    test('one that is out of reach is added, and fails where it is used', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const environmentId = 'gone';
      await client.call('environment/add', { environmentId, execServerUrl: ' ws://127.0.0.1:1 ' });
      expect((await client.refusal('environment/info', { environmentId }))[0]).toBe(-32603);
      expect(await client.call('environment/status', { environmentId })).toEqual({
        status: 'disconnected',
        error: expect.any(String),
      });
      expect((await client.refusal('command/exec', { command: ['true'], environmentId }))[0]).toBe(-32603);
      expect(await client.call('command/exec', { command: ['true'] })).toMatchObject({ exitCode: 0 });
    });
  });
}
