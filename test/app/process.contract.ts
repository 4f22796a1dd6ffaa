import { describe, expect, test } from 'vitest';
import { base64 } from '../../testkit/app-client.mjs';
import type { OpenApp } from '../../testkit/app-server.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

/** `process/*`. */
export function processContract(name: string, open: OpenApp): void {
  describe(`${name}: process`, () => {
    test('spawn is answered while the program still waits', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const script = `echo up > ${folder.file('probe')}; until [ -e ${folder.file('go')} ]; do sleep 0.01; done; echo bye`;
      await client.call('process/spawn', { command: sh(script), processHandle: 'p', cwd: '/' });
      expect(await folder.appears('probe')).toBe('up\n');
      expect(client.notifications('process/exited')).toEqual([]);
      await client.call('fs/writeFile', { path: folder.file('go'), dataBase64: '' });
      expect(await client.exited('p')).toEqual({
        processHandle: 'p',
        exitCode: 0,
        outputDrainTimedOut: false,
        stdout: 'bye\n',
        stdoutCapReached: false,
        stderr: '',
        stderrCapReached: false,
      });
    });

    test('a cap cuts both streams and says so', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const command = sh('printf abcde; printf 12345 >&2');
      await client.call('process/spawn', { command, processHandle: 'p', cwd: '/', outputBytesCap: 3 });
      expect(await client.exited('p')).toMatchObject({
        exitCode: 0,
        stdout: 'abc',
        stdoutCapReached: true,
        stderr: '123',
        stderrCapReached: true,
      });
    });

    test('kill ends a sleeper with a non-zero code and empty output', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      for (const tty of [false, true]) {
        await client.call('process/spawn', { command: ['sleep', '1000'], processHandle: 'k', cwd: '/', tty });
        await client.call('process/kill', { processHandle: 'k' });
        expect(await client.exited('k')).toMatchObject({ exitCode: 137, stdout: '', stderr: '' });
        client.wire.arrivals.length = 0;
      }
    });

    test('requests that make no sense are refused with the codes clients know', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const good = { command: ['true'], processHandle: 'x', cwd: '/' };
      const rows: [object, number, string][] = [
        [{ ...good, command: [] }, -32600, 'command must not be empty'],
        [{ ...good, processHandle: '' }, -32600, 'processHandle must not be empty'],
        [{ ...good, size: { rows: 1, cols: 1 } }, -32602, 'process/spawn size requires tty: true'],
        [
          { ...good, tty: true, size: { rows: 0, cols: 1 } },
          -32602,
          'process size rows and cols must be greater than 0',
        ],
        [{ ...good, timeoutMs: -1 }, -32602, 'process/spawn timeoutMs must be non-negative, got -1'],
      ];
      for (const [params, code, text] of rows) {
        expect(await client.refusal('process/spawn', params)).toEqual([code, text]);
      }
      const broken = [
        { command: ['true'], cwd: '/' },
        { command: ['true'], processHandle: 'x' },
        { ...good, cwd: null },
        { ...good, cwd: 'relative' },
        { ...good, cwd: '~/x' },
        { ...good, cwd: '' },
        { ...good, processHandle: 3 },
      ];
      for (const params of broken) {
        const [code, text] = await client.refusal('process/spawn', params);
        expect([code, text.slice(0, 17)]).toEqual([-32600, 'Invalid request: ']);
      }
      for (const failing of [
        { ...good, command: ['/no/such/program'] },
        { ...good, cwd: folder.file('missing') },
        { ...good, cwd: folder.file('missing'), tty: true },
      ]) {
        const [code, text] = await client.refusal('process/spawn', failing);
        expect([code, text.slice(0, 24)]).toEqual([-32603, 'failed to spawn process:']);
      }
      await client.call('process/spawn', good);
      expect(await client.exited('x')).toMatchObject({ exitCode: 0 });
    });

    test('companions have the rules of their command twins', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const none = { processHandle: 'none' };
      const unknown = [-32600, 'no active process for process handle "none"'];
      expect(await client.refusal('process/kill', none)).toEqual(unknown);
      expect(await client.refusal('process/writeStdin', none)).toEqual([
        -32602,
        'process/writeStdin requires deltaBase64 or closeStdin',
      ]);
      expect((await client.refusal('process/writeStdin', { ...none, deltaBase64: '!!' }))[0]).toBe(-32602);
      expect(await client.refusal('process/writeStdin', { ...none, deltaBase64: '' })).toEqual(unknown);
      const zero = { ...none, size: { rows: 0, cols: 1 } };
      expect((await client.refusal('process/resizePty', zero))[0]).toBe(-32602);
      const mute = { command: ['sleep', '1000'], processHandle: 'm', cwd: '/' };
      await client.call('process/spawn', mute);
      expect(await client.refusal('process/spawn', mute)).toEqual([
        -32600,
        'duplicate active process handle: "m"',
      ]);
      expect(await client.refusal('process/writeStdin', { processHandle: 'm', deltaBase64: 'aGk=' })).toEqual(
        [-32600, 'stdin streaming is not enabled for this process'],
      );
      const size = { rows: 5, cols: 5 };
      expect(await client.refusal('process/resizePty', { processHandle: 'm', size })).toEqual([
        -32600,
        'failed to resize PTY: process is not attached to a PTY',
      ]);
    });

    test('null switches a limit off, absent means the default', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const command = sh('head -c 1500000 /dev/zero | tr "\\0" x');
      await client.call('process/spawn', { command, processHandle: 'capped', cwd: '/' });
      await client.call('process/spawn', {
        command,
        processHandle: 'all',
        cwd: '/',
        outputBytesCap: null,
        timeoutMs: null,
      });
      const capped = await client.exited('capped');
      expect([String(capped.stdout).length, capped.stdoutCapReached]).toEqual([1_048_576, true]);
      const all = await client.exited('all');
      expect([String(all.stdout).length, all.stdoutCapReached]).toEqual([1_500_000, false]);
      await client.call('process/spawn', {
        command: ['sleep', '1000'],
        processHandle: 'late',
        cwd: '/',
        timeoutMs: 0,
      });
      expect(await client.exited('late')).toMatchObject({ exitCode: 124 });
    });

    test('spawn answer, deltas and exit come in this order; the handle is free at once', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      for (let round = 1; round <= 20; round += 1) {
        const before = client.wire.arrivals.length;
        const params = { command: ['echo', 'hi'], processHandle: 'h', cwd: '/', streamStdoutStderr: true };
        client.post(`s${round}`, 'process/spawn', params);
        await client.exited('h', round);
        const kinds = client.wire.arrivals
          .slice(before)
          .map((each) => ('method' in each ? each.method : Object.keys(each).join()));
        expect(kinds).toEqual(['id,result', 'process/outputDelta', 'process/exited']);
      }
    });

    test('a terminal echoes, resizes and ends', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const command = sh('stty -echo; echo ready; read x; stty size; echo got:$x');
      await client.call('process/spawn', { command, processHandle: 't', cwd: '/', tty: true });
      await client.shows('t', 'ready');
      client.post('r', 'process/resizePty', { processHandle: 't', size: { rows: 45, cols: 132 } });
      client.post('w', 'process/writeStdin', { processHandle: 't', deltaBase64: base64('yo\n') });
      expect(await client.exited('t')).toMatchObject({ exitCode: 0, stdout: '' });
      expect(client.streamed('t').toString()).toBe('ready\r\n45 132\r\ngot:yo\r\n');
    });

    test('handles and command ids are different names', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      await client.call('process/spawn', { command: ['sleep', '1000'], processHandle: 'same', cwd: '/' });
      await client.call('command/exec', { command: ['true'], processId: 'same' });
      expect((await client.refusal('command/exec/terminate', { processId: 'same' }))[0]).toBe(-32600);
      await client.call('process/kill', { processHandle: 'same' });
      await client.exited('same');
    });

    test('output held open by a background job ends collection after two seconds', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const command = sh('echo first; (sleep 1000 &) ; exit 2');
      await client.call('process/spawn', { command, processHandle: 'd', cwd: '/' });
      expect(await client.exited('d')).toMatchObject({
        exitCode: 2,
        outputDrainTimedOut: true,
        stdout: 'first\n',
      });
    });

    test('policies are ignored as unknown members, dots in cwd are resolved', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      await client.call('process/spawn', {
        command: ['pwd'],
        processHandle: 'c',
        cwd: '/usr/./bin/..',
        sandboxPolicy: { type: 'readOnly' },
      });
      expect(await client.exited('c')).toMatchObject({ stdout: '/usr\n' });
    });
  });
}
