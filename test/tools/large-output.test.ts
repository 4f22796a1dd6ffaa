import { describe, expect, test } from 'vitest';
import { SpoolQuota } from '../../src/tools/index.js';
import { TestTools } from './harness.js';

const MB = 1_000_000;

describe('large outputs', () => {
  test('200 MB pass with flat memory, and the middle is there', { timeout: 120_000 }, async () => {
    await using tools = new TestTools();
    // 80 bytes with their ends, and no two the same.
    const lines = (count: number): string => `seq -f %079.0f ${count}`;
    await tools.exec(lines(250_000), { tty: false, yield_time_ms: 60_000 });
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const report = await tools.exec(lines(2_500_000), { tty: false, yield_time_ms: 60_000 });
    clearInterval(watch);
    expect(report).toMatchObject({
      running: false,
      exit_code: 0,
      truncated: true,
      original_token_count: 50 * MB,
    });
    expect(peak - before).toBeLessThan(100 * MB);
    const { session_id } = report;
    const middle = await tools.report('read_output', { session_id, from: 1_250_000, to: 1_250_000 });
    expect(middle).toMatchObject({ total_lines: 2_500_000, lost_bytes: 0 });
    expect(middle.output).toBe(`${'1250000'.padStart(79, '0')}\n`);
  });

  test('a program that nobody asks about is not held up', async () => {
    await using tools = new TestTools();
    const { session_id } = await tools.exec('seq 1 3000000', { tty: false, yield_time_ms: 0 });
    const end = await tools.report('wait_for', { session_id, timeout_ms: 60_000, max_output_tokens: 8 });
    expect(end).toMatchObject({ running: false, exit_code: 0 });
    expect((await tools.report('read_output', { session_id, tail: 1 })).output).toBe('3000000\n');
  });

  test('all sessions together stay within their quota, and what had to go is said', async () => {
    const spoolQuota = new SpoolQuota(8 * MB);
    await using tools = new TestTools({ spoolQuota });
    const sessions: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { session_id } = await tools.exec('seq 1 700000', { tty: false, yield_time_ms: 60_000 });
      sessions.push(session_id);
      expect(spoolQuota.usedBytes).toBeLessThanOrEqual(8 * MB);
    }
    const [first, , last] = await Promise.all(
      sessions.map((session_id) => tools.report('read_output', { session_id, from: 500, to: 500 })),
    );
    expect(first?.lost_bytes).toBeGreaterThan(4 * MB);
    expect(last).toMatchObject({ lost_bytes: 0, output: '500\n', total_lines: 700_000 });
  });
});
