// Needs: python3
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

const listener = `python3 -c '
import socket, sys
sys.stdin.readline()
server = socket.create_server(("127.0.0.1", 0))
print("port", server.getsockname()[1], flush=True)
sys.stdin.readline()
server.close()
print("closed", flush=True)
sys.stdin.readline()
'`;

describe('wait_for', () => {
  test('returns at the exit with what was printed', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const script = `until [ -e ${folder.file('go')} ]; do sleep 0.02; done; echo done; exit 4`;
    const { session_id } = await tools.exec(script, { yield_time_ms: 0 });
    const waiting = tools.report('wait_for', { session_id });
    writeFileSync(folder.file('go'), '');
    const end = await waiting;
    expect(end).toMatchObject({ happened: 'exit', running: false, exit_code: 4, output: 'done\n' });
    expect(await tools.failure('wait_for', { session_id })).toContain('as reported');
  });

  test('returns at a pattern, in colour or on an unfinished line', async () => {
    await using tools = new TestTools();
    const script = String.raw`read x; printf 'one\ntwo\n\033[32mrea\033[1mdy\033[0m on 80'; read x`;
    const { session_id } = await tools.exec(script, { yield_time_ms: 0 });
    const waiting = tools.call('wait_for', { session_id, pattern: 'ready on (\\d+)' });
    await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 0 });
    const { text, structured } = await waiting;
    expect(structured).toMatchObject({ happened: 'pattern', match: 'ready on 80', running: true });
    expect(text).toContain('Matched: ready on 80. Running with session ID 1');
  });

  test.each([
    ['shows little of what came before the line that was waited for', {}, { truncated: true, most: 600 }],
    ['shows as much as the call asks for', { max_output_tokens: 20_000 }, { truncated: false, most: 4000 }],
  ])('%s', async (_title, amount, { truncated, most }) => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const script = `until [ -e ${folder.file('go')} ]; do sleep 0.02; done; seq 1000; echo ready; read x`;
    const { session_id } = await tools.exec(script, { yield_time_ms: 0 });
    const waiting = tools.call('wait_for', { session_id, pattern: '^ready', ...amount });
    writeFileSync(folder.file('go'), '');
    const { text, structured } = await waiting;
    expect(structured).toMatchObject({ happened: 'pattern', match: 'ready', truncated });
    expect(text).toMatch(/\nready\n$/);
    expect(text.includes('read_output, session_id 1, has the rest')).toBe(truncated);
    expect(text.length).toBeLessThan(most);
  });

  test('ends with the command when the pattern never comes, and with the time when nothing does', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('read x; echo other', { yield_time_ms: 0 });
    const timed = await tools.report('wait_for', { session_id, pattern: 'never', timeout_ms: 50 });
    expect(timed).toMatchObject({ happened: 'timeout', running: true });
    const typed = await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 0 });
    if (typed.running) {
      expect(await tools.report('wait_for', { session_id, pattern: 'never' })).toMatchObject({
        happened: 'exit',
      });
    }
  });

  test('returns when output falls quiet', async () => {
    await using tools = new TestTools();
    const script = 'for i in $(seq 1 10); do echo $i; sleep 0.05; done; read x';
    // Not before it prints: how long a shell takes to start is no part of the quiet.
    const { session_id } = await tools.execUntil(script, '1', { tty: false });
    const quiet = await tools.report('wait_for', { session_id, quiet_ms: 1500 });
    expect(quiet).toMatchObject({ happened: 'quiet', running: true });
    expect(quiet.output).toContain('10\n');
  });

  test('returns when a port opens, and leaves no probe behind', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec(listener, { yield_time_ms: 0 });
    const listening = await tools.report('wait_for', { session_id, needs_input: true });
    expect(listening.happened).toBe('needs_input');
    const port = Number(/port (\d+)/.exec((await tools.typeUntilPrompt(session_id, '\n')).output)?.[1]);
    expect(await tools.report('wait_for', { session_id, port })).toMatchObject({ happened: 'port' });
    await tools.typeUntilPrompt(session_id, '\n');
    const shut = await tools.report('wait_for', { session_id, port, timeout_ms: 300 });
    expect(shut).toMatchObject({ happened: 'timeout' });
    await gone(String(port));
    expect(pidsWithArgument(String(port))).toEqual([]);
  });

  test('a cancelled wait leaves the command and its output alone', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('read x; echo $x; read y', { yield_time_ms: 0 });
    const stop = new AbortController();
    const waiting = tools.call('wait_for', { session_id }, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow('cancelled');
    expect((await tools.typeUntilPrompt(session_id, 'still here\n')).output).toBe('still here\nstill here\n');
  });
});

describe('list_sessions and kill_session', () => {
  test('show and end what runs', async () => {
    await using tools = new TestTools();
    const mark = `killed-${process.pid}`;
    // No line end, which a terminal would deliver apart from the text: nothing may be unread.
    const script = `setsid bash -c 'sleep 1000; :' ${mark} & printf up; wait`;
    const { session_id } = await tools.execUntil(script, 'up');
    await tools.exec('exit 3');
    const { text, structured } = await tools.call('list_sessions', {});
    expect(structured.sessions).toMatchObject([
      { session_id, running: true, exit_code: null, command: script, tty: true, unread_bytes: 0 },
      { session_id: 2, running: false, exit_code: 3 },
    ]);
    expect(text).toMatch(
      /^1: running, \d+ s old, 0 bytes unread: setsid .*\n2: exited with code 3, .*: exit 3$/,
    );
    const end = await tools.report('kill_session', { session_id });
    expect(end).toMatchObject({ running: false, exit_code: 137, signal: 'SIGKILL' });
    await gone(mark);
    expect(await tools.failure('write_stdin', { session_id })).toContain('it exited with code 137');
    expect(await tools.report('kill_session', { session_id })).toMatchObject({ exit_code: 137 });
  });
});
