import { describe, expect, test } from 'vitest';
import { base64, exec } from '../../testkit/app-client.mjs';
import type { OpenApp } from '../../testkit/app-server.mjs';
import { sh } from '../../testkit/wire-client.mjs';

/** `command/exec`: how it ends, and `write`, `resize` and `terminate`. */
export function commandControlContract(name: string, open: OpenApp): void {
  describe(`${name}: control of command/exec`, () => {
    test('exit codes are 128 + n after a signal, on pipes and on terminals', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      for (const [signal, exitCode] of [
        ['TERM', 143],
        ['KILL', 137],
        ['INT', 130],
      ] as const) {
        expect(await exec(client, `kill -${signal} $$`)).toMatchObject({ exitCode });
        expect(await exec(client, `kill -${signal} $$`, { tty: true, processId: 'p' })).toMatchObject({
          exitCode,
        });
      }
    });

    test('a timeout ends it with 124 and keeps what was written; 0 expires at once', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const outcome = await exec(client, 'trap "echo trapped" TERM; echo started; sleep 1000 & wait', {
        timeoutMs: 2000,
      });
      expect(outcome).toEqual({ exitCode: 124, stdout: 'started\n', stderr: '' });
      expect(await exec(client, 'sleep 1000', { timeoutMs: 0 })).toMatchObject({ exitCode: 124 });
      const tty = { timeoutMs: 0, tty: true, processId: 'p' };
      expect(await exec(client, 'sleep 1000', tty)).toMatchObject({ exitCode: 124 });
      const patient = await exec(client, 'sleep 0.1; echo done', { disableTimeout: true });
      expect(patient).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    });

    test('terminate gives 137 and what was written; a second one finds nothing running', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      for (const tty of [false, true]) {
        client.post('run', 'command/exec', {
          command: sh('echo up; sleep 1000'),
          processId: 'p',
          tty,
          streamStdoutStderr: true,
          disableTimeout: true,
        });
        await client.shows('p', 'up');
        client.post('first', 'command/exec/terminate', { processId: 'p' });
        client.post('second', 'command/exec/terminate', { processId: 'p' });
        expect(await client.wire.answerTo('run')).toMatchObject({ result: { exitCode: 137 } });
        expect(await client.wire.answerTo('first')).toEqual({ id: 'first', result: {} });
        expect(await client.wire.answerTo('second')).toMatchObject({ error: { code: -32600 } });
        client.wire.arrivals.length = 0;
      }
    });

    test('a terminal has the size it was given and obeys resize', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const script = 'stty size; read x; stty size; echo got:$x; echo err >&2; test -t 0 && test -t 1';
      client.post('run', 'command/exec', {
        command: sh(script),
        processId: 't',
        tty: true,
        size: { rows: 31, cols: 101 },
      });
      await client.shows('t', '31 101\r\n');
      await client.call('command/exec/resize', { processId: 't', size: { rows: 45, cols: 132 } });
      await client.call('command/exec/write', { processId: 't', deltaBase64: base64('yo\n') });
      expect(await client.wire.answerTo('run')).toMatchObject({ result: { exitCode: 0, stdout: '' } });
      expect(client.streamed('t').toString()).toBe('31 101\r\nyo\r\n45 132\r\ngot:yo\r\nerr\r\n');
      await exec(client, 'stty size', { processId: 'd', tty: true });
      expect(client.streamed('d').toString()).toBe('24 80\r\n');
    });

    test('input: refusals, empty writes, closing', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const write = (params: object) => client.refusal('command/exec/write', params);
      client.post('cat', 'command/exec', { command: ['cat'], processId: 'c', streamStdin: true });
      client.post('mute', 'command/exec', {
        command: ['sleep', '1000'],
        processId: 'm',
        disableTimeout: true,
      });
      expect(await write({ processId: 'none' })).toEqual([
        -32602,
        'command/exec/write requires deltaBase64 or closeStdin',
      ]);
      for (const deltaBase64 of ['!!', 'aGk', 'aG k=', 'a-_=']) {
        expect((await write({ processId: 'none', deltaBase64 }))[0]).toBe(-32602);
      }
      const unknown = [-32600, 'no active command/exec for process id "none"'];
      expect(await write({ processId: 'none', closeStdin: true })).toEqual(unknown);
      expect(await client.refusal('command/exec/terminate', { processId: 'none' })).toEqual(unknown);
      const size = { rows: 1, cols: 1 };
      expect(await client.refusal('command/exec/resize', { processId: 'none', size })).toEqual(unknown);
      const zero = { processId: 'none', size: { rows: 0, cols: 1 } };
      expect((await client.refusal('command/exec/resize', zero))[0]).toBe(-32602);
      expect(await write({ processId: 'm', deltaBase64: 'aGk=' })).toEqual([
        -32600,
        'stdin streaming is not enabled for this command/exec',
      ]);
      expect(await client.refusal('command/exec/resize', { processId: 'c', size })).toEqual([
        -32600,
        'failed to resize PTY: process is not attached to a PTY',
      ]);
      await client.call('command/exec/write', { processId: 'c', deltaBase64: '' });
      client.post('w', 'command/exec/write', { processId: 'c', deltaBase64: 'aGk=', closeStdin: true });
      client.post('again', 'command/exec/write', { processId: 'c', closeStdin: true });
      expect(await client.wire.answerTo('w')).toEqual({ id: 'w', result: {} });
      expect(await client.wire.answerTo('cat')).toMatchObject({ result: { exitCode: 0, stdout: 'hi' } });
      await client.call('command/exec/terminate', { processId: 'm' });
      expect(await client.wire.answerTo('mute')).toMatchObject({ result: { exitCode: 137 } });
    });

    test('data after closing stdin is refused, nothing and closing again are not', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const params = {
        command: sh('cat; sleep 1000'),
        processId: 'c',
        streamStdin: true,
        disableTimeout: true,
      };
      client.post('run', 'command/exec', params);
      await client.call('command/exec/write', { processId: 'c', closeStdin: true });
      await client.call('command/exec/write', { processId: 'c', closeStdin: true });
      await client.call('command/exec/write', { processId: 'c', deltaBase64: '' });
      expect(await client.refusal('command/exec/write', { processId: 'c', deltaBase64: 'aGk=' })).toEqual([
        -32600,
        'stdin is already closed',
      ]);
      await client.call('command/exec/terminate', { processId: 'c' });
      await client.wire.answerTo('run');
    });

    test('closing the stdin of a terminal ends its reader', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      client.post('run', 'command/exec', { command: ['cat'], processId: 't', tty: true });
      client.post('w', 'command/exec/write', {
        processId: 't',
        deltaBase64: base64('line'),
        closeStdin: true,
      });
      expect(await client.wire.answerTo('run')).toMatchObject({ result: { exitCode: 0 } });
      expect(client.streamed('t').toString()).toContain('line\r\n');
    });

    test('ids: active ones are refused, free again with the answer, separate per connection', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      client.post('run', 'command/exec', { command: ['cat'], processId: 'x', streamStdin: true });
      expect(await client.refusal('command/exec', { command: ['true'], processId: 'x' })).toEqual([
        -32600,
        'duplicate active command/exec process id: "x"',
      ]);
      await client.call('command/exec/write', { processId: 'x', closeStdin: true });
      await client.wire.answerTo('run');
      for (let round = 0; round < 30; round += 1) {
        expect(await exec(client, 'exit 7', { processId: 'x' })).toMatchObject({ exitCode: 7 });
      }
    });
  });
}
