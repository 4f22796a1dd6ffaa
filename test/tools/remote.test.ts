import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { openEnvironment } from '../../src/environment/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { serve } from '../harness/serve.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestTools } from './harness.js';
import { signalOne } from '../../testkit/signal-one.mjs';

async function connect(url: string): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'ws', dial: () => dialWebSocket(url), resume: false });
}

describe('on a machine behind a WebSocket', () => {
  test('commands, prompts and large outputs are the same', async () => {
    await using server = await serve();
    await using tools = new TestTools({}, await connect(server.url));
    expect(await tools.exec('echo hi; exit 3')).toMatchObject({ exit_code: 3, output: 'hi\n' });
    const { session_id } = await tools.exec('stty -echo; printf "secret: "; read s; echo; echo ${#s}', {
      yield_time_ms: 0,
    });
    const asked = await tools.report('wait_for', { session_id, needs_input: true });
    expect(asked).toMatchObject({ needs_input: true, password: true });
    const end = await tools.report('write_stdin', { session_id, chars: 'hunter2\n', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, output: '\n7\n' });
    const large = await tools.exec('seq 1 1000000', { tty: false, yield_time_ms: 60_000 });
    const tail = await tools.report('read_output', { session_id: large.session_id, tail: 1 });
    expect(tail).toMatchObject({ output: '1000000\n', total_lines: 1_000_000, lost_bytes: 0 });
  });

  test('files are those of that machine', async () => {
    await using server = await serve();
    await using tools = new TestTools({}, await connect(server.url));
    using folder = new TestFolder();
    const path = folder.file('a/b.txt');
    await tools.call('write_file', { path, content: 'one\ntwo\n' });
    expect((await tools.call('read_file', { path, from: 2 })).text).toBe('two\n');
    expect((await tools.call('list_directory', { path: folder.file('a') })).text).toBe('b.txt');
    const found = await tools.call('search', { path: folder.path, pattern: 'two' });
    expect(found.text).toBe(`${path}:2:two`);
    expect(await tools.failure('read_file', { path: folder.file('missing') })).toMatch(/\w/);
  });

  test('Ctrl-C reaches a command on pipes', async () => {
    await using server = await serve();
    await using tools = new TestTools({}, await connect(server.url));
    const { session_id } = await tools.execUntil(
      'trap "echo interrupted; exit 5" INT; echo up; while :; do sleep 0.05; done',
      'up',
      { tty: false },
    );
    const end = await tools.report('write_stdin', { session_id, chars: '\u0003', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ exit_code: 5, output: 'interrupted\n' });
  });

  test('lost contact is not an exit', async () => {
    await using server = await ServerProcess.start();
    await using tools = new TestTools({}, await connect(server.url));
    // No line end, which a terminal would deliver apart from the text: nothing may follow.
    const { session_id } = await tools.execUntil('printf up; sleep 1000', 'up');
    const waiting = tools.call('wait_for', { session_id, timeout_ms: 60_000 });
    signalOne(server.pid, 'SIGKILL');
    const { isError, text, structured } = await waiting;
    expect({ isError, exit: structured.exit_code }).toEqual({ isError: true, exit: null });
    expect(text).toMatch(/^Contact with the process was lost; how it ended is unknown$/);
    expect(await tools.failure('write_stdin', { session_id })).toContain('contact with it was lost');
    expect(await tools.failure('exec_command', { cmd: 'true' })).toMatch(/\w/);
  });

  test('while the connection is being restored calls do not hang, and then nothing is missing', async () => {
    await using server = await serve();
    await using proxy = await FaultProxy.to(server.url);
    let reachable = true;
    // The machine is there, the way to it is not.
    const dial = () => (reachable ? dialWebSocket(proxy.url) : new Promise<never>(() => undefined));
    const environment = await RemoteEnvironment.connect({
      id: 'ws',
      dial,
      resume: true,
      connectTimeoutMs: 200,
    });
    await using tools = new TestTools({}, environment);
    const { session_id } = await tools.execUntil('read x; echo "got $x"; sleep 1000', '');
    reachable = false;
    proxy.cut();
    const typed = await tools.report('write_stdin', { session_id, chars: 'it\n', yield_time_ms: 0 });
    expect(typed).toMatchObject({ running: true, notes: [expect.stringContaining('is not responding')] });
    reachable = true;
    const seen = await tools.report('wait_for', { session_id, pattern: 'got it' });
    expect(seen).toMatchObject({ happened: 'pattern', running: true, notes: [] });
  });

  test('a machine that stays out of reach is an error after the limit, with what was lost', async () => {
    await using server = await serve();
    await using proxy = await FaultProxy.to(server.url);
    const environment = await openEnvironment(proxy.url, { giveUpAfterMs: 300 });
    await using tools = new TestTools({}, environment);
    const { session_id } = await tools.execUntil('printf up; sleep 1000', 'up');
    const waiting = tools.call('wait_for', { session_id, timeout_ms: 60_000 });
    const offline = new Promise<void>((resolve) => {
      environment.watchConnection?.((connected) => void (connected || resolve()));
    });
    proxy.interrupt();
    await offline;
    const failed = await Promise.all([
      tools.call('exec_command', { cmd: 'true' }),
      tools.call('read_file', { path: '/no/such/file' }),
    ]);
    for (const { isError, text, structured } of failed) {
      expect(text).toMatch(/^The connection ended \(.+\) and could not be restored within 300 ms\.$/);
      expect({ isError, structured }).toEqual({
        isError: true,
        structured: { error: text, code: 'connectionClosed' },
      });
    }
    const { isError, text } = await waiting;
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining('Contact with the process was lost'),
    });
    expect(await tools.failure('write_stdin', { session_id })).toContain('contact with it was lost');
  });
});
