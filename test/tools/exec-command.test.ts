import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pidsWithArgument, gone, TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

describe('exec_command', () => {
  test('answers in one line, with the output below it', async () => {
    await using tools = new TestTools();
    const { text } = await tools.call('exec_command', { cmd: 'printf "a\\nb\\n"; exit 3' });
    expect(text).toMatch(/^Exit code 3( after [\d.]+ s)?\na\nb\n$/);
    const running = await tools.call('exec_command', { cmd: 'sleep 1000', login: false, yield_time_ms: 0 });
    expect(running.text).toMatch(/^Running with session ID 2$/);
    const cut = await tools.call('exec_command', {
      cmd: 'seq -w 1 1000',
      login: false,
      max_output_tokens: 16,
    });
    expect(cut.text).toMatch(
      /^Exit code 0(?: after [\d.]+ s)?\. Truncated from 1250 tokens; read_output, session_id 3, has the rest\n0001\n/,
    );
    expect(cut.structured).toMatchObject({ truncated: true, original_token_count: 1250, exit_code: 0 });
    expect(cut.notes).toEqual([]);
  });

  test('output that nobody would read is cut to its ends, unless the call asks for an amount', async () => {
    await using tools = new TestTools();
    const printed = { cmd: 'seq 1 20000', login: false };
    const short = await tools.call('exec_command', printed);
    const asked = await tools.call('exec_command', { ...printed, max_output_tokens: 9_000 });
    const raw = await tools.call('exec_command', { ...printed, raw: true });
    const bytes = [short, asked, raw].map(({ text }) => Buffer.byteLength(text));
    expect(bytes).toEqual([expect.closeTo(8_000, -3), expect.closeTo(36_000, -3), expect.closeTo(8_000, -3)]);
    expect(short.text).toMatch(
      /tokens; read_output, session_id 1, has the rest\n1\n2\n[^]*\n19999\n20000\n$/,
    );
    const whole = await tools.call('exec_command', { cmd: 'seq 1 7000', login: false });
    expect(whole.structured).toMatchObject({ truncated: false });
  });

  test('returns the moment the command ends', async () => {
    await using tools = new TestTools();
    const before = performance.now();
    await tools.exec('true', { yield_time_ms: 300_000 });
    await tools.exec('sleep 1000 & true', { yield_time_ms: 300_000 });
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('returns the moment the command waits for input, and so does write_stdin', async () => {
    await using tools = new TestTools();
    const before = performance.now();
    const window = { yield_time_ms: 300_000 };
    const asked = await tools.exec(
      'sleep 0.5; read -p "name? " n; read -s -p "word? " w; echo "$n${#w}"',
      window,
    );
    expect(asked).toMatchObject({ running: true, needs_input: true, password: false, output: 'name? ' });
    const { session_id } = asked;
    const secret = await tools.report('write_stdin', { session_id, chars: 'me\n', ...window });
    expect(secret).toMatchObject({ needs_input: true, output: 'me\nword? ' });
    const end = await tools.report('write_stdin', { session_id, chars: 'abc\n', ...window });
    expect(end).toMatchObject({ running: false, output: 'me3\n' });
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('runs the shell as asked, where asked', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const login = await tools.report('exec_command', {
      cmd: 'shopt -q login_shell && pwd',
      workdir: folder.path,
    });
    expect(login.output).toBe(`${folder.path}\n`);
    expect((await tools.exec('shopt -q login_shell')).exit_code).toBe(1);
    expect((await tools.exec('echo $0', { shell: '/bin/sh' })).output).toBe('/bin/sh\n');
    expect((await tools.exec('stty size; tty >/dev/null && echo terminal')).output).toBe('24 80\nterminal\n');
    expect((await tools.exec('tty', { tty: false })).output).toBe('not a tty\n');
  });

  test('merges stdout and stderr in order on pipes', async () => {
    await using tools = new TestTools();
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done';
    const expected = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `out${i}\nerr${i}\n`).join('');
    expect((await tools.exec(script, { tty: false })).output).toBe(expected);
  });

  test('what cannot be started is an error in a sentence', async () => {
    await using tools = new TestTools();
    const sentences = [
      await tools.failure('exec_command', { cmd: 'true', shell: '/no/such/shell' }),
      await tools.failure('exec_command', { cmd: 'true', workdir: '/no/such/directory' }),
      await tools.failure('exec_command', { cmd: '' }),
      await tools.failure('exec_command', { cmd: 'true', yield_time_ms: -1 }),
      await tools.failure('write_stdin', { session_id: 99 }),
      await tools.failure('no_such_tool', {}),
    ];
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(await tools.report('list_sessions', {})).toEqual({ sessions: [] });
  });

  test('a call that was cancelled before its command started never starts it', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const cancelled = tools.box.call(
      'exec_command',
      { cmd: `touch ${folder.file('started')}`, login: false },
      { signal: AbortSignal.abort() },
    );
    await expect(cancelled).rejects.toThrow('cancelled');
    await tools.call('exec_command', { cmd: 'true', login: false });
    expect(existsSync(folder.file('started'))).toBe(false);
  });

  test('a cancelled call interrupts its command, and kills one that does not listen', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const polite = `trap 'echo interrupted > ${folder.file('seen')}; exit' INT; echo up > ${folder.file('up')}; while :; do sleep 0.05; done`;
    const stop = new AbortController();
    const call = tools.call('exec_command', { cmd: polite, login: false }, { signal: stop.signal });
    await folder.appears('up');
    stop.abort();
    await expect(call).rejects.toThrow('cancelled');
    expect(await folder.appears('seen')).toBe('interrupted\n');
    const mark = `stubborn-${process.pid}`;
    const stubborn = `trap '' INT; echo up > ${folder.file('up2')}; exec bash -c 'while :; do sleep 0.1; done' ${mark}`;
    const second = new AbortController();
    const secondCall = tools.call('exec_command', { cmd: stubborn, login: false }, { signal: second.signal });
    await folder.appears('up2');
    second.abort();
    await expect(secondCall).rejects.toThrow('cancelled');
    await gone(mark);
  });

  test('tells about progress', async () => {
    await using tools = new TestTools();
    const seen: string[] = [];
    const stop = new AbortController();
    const call = tools.call(
      'exec_command',
      { cmd: 'echo first; printf "\\r\\033[32mhalf way"; sleep 1000', login: false, yield_time_ms: 60_000 },
      {
        signal: stop.signal,
        onProgress: ({ message }) => {
          seen.push(message);
          if (message !== '') stop.abort();
        },
      },
    );
    await expect(call).rejects.toThrow('cancelled');
    expect(seen.at(-1)).toBe('half way');
  });

  test('keeps a limited number of sessions and says which had to go', async () => {
    await using tools = new TestTools({ maxSessions: 3 });
    const mark = `evicted-${process.pid}`;
    const first = await tools.exec(`exec bash -c 'read x' ${mark}`, { yield_time_ms: 0 });
    const second = await tools.exec('read x', { yield_time_ms: 0 });
    await tools.exec('true');
    // The finished one goes first, and that is no news.
    expect((await tools.exec('read x', { yield_time_ms: 0 })).notes.join()).not.toContain('ended');
    await tools.report('write_stdin', { session_id: second.session_id, yield_time_ms: 0 });
    const last = await tools.exec('read x', { yield_time_ms: 0 });
    expect(last.notes).toContain('Session 1 was ended to make room: the session limit is reached.');
    expect(pidsWithArgument(mark)).toEqual([]);
    expect(await tools.failure('write_stdin', { session_id: first.session_id })).toBe(
      'Unknown session ID 1: it was ended to make room for newer sessions.',
    );
  });

  test('the limit is 64 sessions', async () => {
    await using tools = new TestTools();
    for (let session = 1; session <= 64; session += 1) {
      const { notes } = await tools.exec('read x', { tty: false, yield_time_ms: 0 });
      expect(notes).toEqual([]);
    }
    const over = await tools.exec('read x', { tty: false, yield_time_ms: 0 });
    expect(over.notes).toEqual(['Session 1 was ended to make room: the session limit is reached.']);
    const { sessions } = (await tools.call('list_sessions', {})).structured as { sessions: unknown[] };
    expect(sessions.length).toBe(64);
  });
});
