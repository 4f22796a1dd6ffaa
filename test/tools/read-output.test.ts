import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

describe('read_output', () => {
  test('gives the omitted middle by range, end and pattern, also after the end', async () => {
    await using tools = new TestTools();
    const { session_id, truncated } = await tools.exec('seq 1 200000', { max_output_tokens: 10 });
    expect(truncated).toBe(true);
    const range = await tools.call('read_output', { session_id, from: 777, to: 779 });
    expect(range.text).toBe('Lines 777-779 of 200000\n777\n778\n779\n');
    expect((await tools.report('read_output', { session_id, tail: 2 })).output).toBe('199999\n200000\n');
    const found = await tools.report('read_output', { session_id, grep: '^1000?5$', context: 1 });
    expect(found).toMatchObject({ matches: 2, total_lines: 200_000 });
    expect(found.output).toBe('1004-1004\n1005:1005\n1006-1006\n--\n10004-10004\n10005:10005\n10006-10006\n');
    const within = await tools.report('read_output', { session_id, grep: '5$', from: 1000, to: 1020 });
    expect(within.output).toBe('1005:1005\n1015:1015\n');
    const beyond = await tools.call('read_output', { session_id, from: 200_001 });
    expect(beyond.text).toBe('No such lines; there are 200000\n');
  });

  test('obeys the budget and takes nothing from the next answer', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('read x; seq -w 1 500; read x', { yield_time_ms: 0 });
    await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 0 });
    await tools.report('wait_for', { session_id, needs_input: true, max_output_tokens: 0 });
    await tools.report('write_stdin', { session_id, chars: 'mark\n', yield_time_ms: 60_000 });
    const view = await tools.report('read_output', { session_id, max_output_tokens: 20 });
    expect(view).toMatchObject({ truncated: true });
    expect(Buffer.byteLength(view.output)).toBeLessThanOrEqual(80);
  });

  test('a pattern that cannot be used is an error', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec(`echo ${'a'.repeat(60)}b`);
    expect(await tools.failure('read_output', { session_id, grep: '(' })).toMatch(
      /^The pattern cannot be used: /,
    );
    for (const grep of ['(?=a)', '(?<!a)b', '(a)\\1'])
      expect(await tools.failure('read_output', { session_id, grep })).toMatch(
        /, which is not supported\. \w/,
      );
    expect(await tools.failure('wait_for', { session_id, pattern: '(' })).toMatch(/^Unknown session/);
  });

  test('no pattern takes longer than the output is long', async () => {
    using folder = new TestFolder();
    await using tools = new TestTools();
    const go = folder.file('go');
    const hard = 'a'.repeat(60);
    const { session_id } = await tools.exec(
      `until [ -e ${go} ]; do sleep 0.01; done; echo ${hard}b; read x`,
      { yield_time_ms: 0 },
    );
    const waiting = tools.report('wait_for', { session_id, pattern: '(a+)+$|b$' });
    writeFileSync(go, '');
    expect(await waiting).toMatchObject({ happened: 'pattern', match: `${hard}b` });
    const found = await tools.report('read_output', { session_id, grep: '(a+)+$' });
    expect(found).toMatchObject({ matches: 0, total_lines: 1 });
  });

  test('searches what the model sees, or what was printed', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec(`printf '10%%\\r99%%\\n\\033[31mred\\033[0m\\n\\n'`, {
      tty: false,
    });
    const grep = async (pattern: string, raw = false) =>
      (await tools.report('read_output', { session_id, grep: pattern, raw })).matches;
    expect(await grep('10%')).toBe(0);
    expect(await grep('^99%$')).toBe(1);
    expect(await grep('^red$')).toBe(1);
    expect(await grep('10%', true)).toBe(1);
    expect(await grep('\\[31mred', true)).toBe(1);
    expect(await grep('')).toBe(3);
  });

  test('says where output could not be kept', async () => {
    const spoolLimits = { headBytes: 300_000, tailBytes: 1_000_000 };
    await using tools = new TestTools({ spoolLimits });
    const { session_id, notes } = await tools.exec('seq 1 1000000', { tty: false, yield_time_ms: 60_000 });
    const view = await tools.report('read_output', {
      session_id,
      grep: 'bytes of output were lost',
      context: 0,
    });
    expect(view).toMatchObject({ matches: 1 });
    const lost = Number(/\[(\d+) bytes of output were lost here\]/.exec(view.output)?.[1]);
    expect(lost).toBe(view.lost_bytes);
    expect(notes).toContain(`${lost} bytes of the output could not be kept.`);
    expect((await tools.report('read_output', { session_id, tail: 1 })).output).toBe('1000000\n');
  });

  test('what was lost on the way here counts too', async () => {
    const gap = { type: 'gap', lostBytes: 4711 } as const;
    await using tools = new TestTools({}, losing(new LocalEnvironment(), gap));
    const { session_id, notes } = await tools.exec('echo after', { tty: false });
    expect(notes).toContain('4711 bytes of the output could not be kept.');
    const found = await tools.call('read_output', { session_id, grep: 'before' });
    expect(found.text).toContain('0 of 3 lines match\nWarning: 4711 bytes of this output could not be kept');
    expect(found.structured).toMatchObject({ lost_bytes: 4711 });
  });
});

/** A machine whose processes lose the beginning of their output, as after a long time out of reach. */
function losing(environment: LocalEnvironment, gap: { type: 'gap'; lostBytes: number }): LocalEnvironment {
  const start = environment.start.bind(environment);
  environment.start = async (spec) => {
    const process = await start(spec);
    const events = process.events.bind(process);
    process.events = async function* (options) {
      yield { ...gap, afterSeq: 0, beforeSeq: 1 };
      yield* events(options);
    };
    return process;
  };
  return environment;
}
