import { describe, expect, test } from 'vitest';
import { TestTools } from './harness.js';

describe('write_stdin', () => {
  test('a counter read in two windows with a pause between misses and doubles nothing', async () => {
    await using tools = new TestTools();
    // It does not end by itself: how far it has come in a window depends on the machine.
    const counter = 'for i in $(seq 1 25); do echo $i; sleep 0.1; done; read x';
    const first = await tools.exec(counter, { yield_time_ms: 450 });
    const { session_id } = first;
    await tools.exec('sleep 0.6');
    const second = await tools.report('write_stdin', { session_id, yield_time_ms: 400 });
    const third = await tools.report('wait_for', { session_id, needs_input: true });
    expect(third).toMatchObject({ running: true, happened: 'needs_input' });
    const numbers = `${first.output}${second.output}${third.output}`.trimEnd().split('\n').map(Number);
    expect(numbers).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  test('reports the exit once, then says that it did', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('read x; echo "got $x"; exit 7', { yield_time_ms: 0 });
    const end = await tools.report('write_stdin', { session_id, chars: 'hello\n', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, exit_code: 7, output: 'hello\ngot hello\n' });
    expect(await tools.failure('write_stdin', { session_id })).toBe(
      `Unknown session ID ${session_id}: it exited with code 7, as reported. read_output still has its output.`,
    );
  });

  test('an exit between two calls is reported by the next, with everything printed', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('read x; seq 1 5; exit 2', { yield_time_ms: 0 });
    await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 0 }).then(async (first) => {
      const rest = first.running ? await tools.report('wait_for', { session_id }) : { output: '' };
      expect(`${first.output}${rest.output}`).toBe('\n1\n2\n3\n4\n5\n');
    });
  });

  test.each([
    ['a terminal', true],
    ['pipes', false],
  ])('Ctrl-C interrupts the foreground job on %s', async (_name, tty) => {
    await using tools = new TestTools();
    const script = `trap 'echo interrupted; exit 5' INT; echo up; while :; do sleep 0.05; done`;
    const { session_id } = await tools.execUntil(script, '^up$', { tty });
    const end = await tools.report('write_stdin', { session_id, chars: '\u0003', yield_time_ms: 60_000 });
    expect(end).toMatchObject({ running: false, exit_code: 5 });
    expect(end.output).toContain('interrupted');
  });

  test('text before and after a control character keeps its place on pipes, and Ctrl-D closes stdin', async () => {
    await using tools = new TestTools();
    const script =
      'trap "echo interrupted" INT; echo up; while read x || [ $? -gt 128 ]; do echo "[$x]"; done';
    const { session_id } = await tools.execUntil(script, 'up', { tty: false });
    await tools.report('write_stdin', { session_id, chars: 'one\n', yield_time_ms: 0 });
    const end = await tools.report('write_stdin', {
      session_id,
      chars: 'two\n\u0004',
      yield_time_ms: 60_000,
    });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
    expect(end.output).toContain('[two]');
  });

  test('characters cut between chunks and between calls arrive whole', async () => {
    await using tools = new TestTools();
    const script = String.raw`printf '\xf0\x9f'; read x; printf '\x98\x80\033[3'; read x; printf '1mred\xe6'; read x; printf '\xbc\xa2\n'`;
    const { session_id } = await tools.exec(script, { tty: false, yield_time_ms: 0 });
    const outputs: string[] = [];
    for (const chars of ['\n', '\n', '\n']) {
      await tools
        .report('wait_for', { session_id, quiet_ms: 150 })
        .then(({ output }) => outputs.push(output));
      await tools
        .report('write_stdin', { session_id, chars, yield_time_ms: 0 })
        .then(({ output }) => outputs.push(output));
    }
    const end = await tools.call('wait_for', { session_id });
    const rest = end.isError ? '' : String(end.structured.output);
    expect([...outputs, rest].join('')).toBe('😀red漢\n');
  });

  test('calls at the same time share the output without overlap', async () => {
    await using tools = new TestTools();
    const script = 'for i in $(seq 1 20); do echo $i; sleep 0.02; done; read x';
    const first = await tools.exec(script, { yield_time_ms: 0 });
    const { session_id } = first;
    const polls = await Promise.all(
      [50, 100, 150, 200, 250].map((yield_time_ms) =>
        tools.report('write_stdin', { session_id, yield_time_ms }),
      ),
    );
    const rest = await tools.report('wait_for', { session_id, needs_input: true });
    const numbers = [first, ...polls, rest].map(({ output }) => output).join('');
    expect(
      numbers
        .trim()
        .split('\n')
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test('raw output is left as it came', async () => {
    await using tools = new TestTools();
    const script = String.raw`printf '\r10%%\r\033[31m100%%\033[0m\n'; head -c 3000 /dev/zero | tr '\0' x; echo`;
    const folded = await tools.exec(script);
    expect(folded.output).toBe(`100%\n${'x'.repeat(2048)}…[952 more characters]\n`);
    const raw = await tools.exec(script, { raw: true });
    expect(raw.output).toBe(`\r10%\r\x1b[31m100%\x1b[0m\r\n${'x'.repeat(3000)}\r\n`);
  });

  test('a program that does not read holds nobody up', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('sleep 1000', { tty: false, yield_time_ms: 0 });
    const chars = 'x'.repeat(500_000);
    const notes: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const report = await tools.report('write_stdin', { session_id, chars, yield_time_ms: 0 });
      notes.push(...report.notes);
    }
    expect(notes).toContain('The program is not reading its input; what was typed is still queued.');
  });

  test('a closed input is an error, not silence', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('cat; echo done; sleep 1000', { tty: false, yield_time_ms: 0 });
    const typed = await tools.report('write_stdin', { session_id, chars: '\u0004', yield_time_ms: 0 });
    if (!typed.output.includes('done')) await tools.report('wait_for', { session_id, pattern: 'done' });
    expect(await tools.failure('write_stdin', { session_id, chars: 'x' })).toBe(
      `The input of session ${session_id} is closed; nothing was written.`,
    );
  });
});
