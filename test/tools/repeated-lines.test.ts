import { describe, expect, test } from 'vitest';
import { RepeatedLines } from '../../src/tools/text/repeated-lines.js';
import { TestTools } from './harness.js';

describe('a line that repeats', () => {
  test('is shown once, with how often it came again', async () => {
    await using tools = new TestTools();
    const { output, truncated } = await tools.exec('yes again | head -500; echo end');
    expect({ output, truncated }).toEqual({
      output: 'again\n[the same line 499 more times]\nend\n',
      truncated: false,
    });
  });

  test('is counted by each call for what is new to it', async () => {
    await using tools = new TestTools();
    const script = 'yes again | head -50; read x; yes again | head -20';
    const { session_id, output } = await tools.exec(script, { tty: true });
    expect(output).toBe('again\n[the same line 49 more times]\n');
    const end = await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 10_000 });
    expect(end.output).toBe('\nagain\n[the same line 19 more times]\n');
  });

  test('can be had as it was printed', async () => {
    await using tools = new TestTools();
    const { output } = await tools.exec('yes again | head -50', { raw: true });
    expect(output).toBe('again\r\n'.repeat(50));
    const lines = await tools.report('read_output', { session_id: 1 });
    expect(lines.total_lines).toBe(50);
  });

  test('is left alone up to ten times, and where it may have been cut', () => {
    const joined = (lines: string[]): string => {
      const repeated = new RepeatedLines({ maxLineChars: 5 });
      return repeated.add(lines) + repeated.end();
    };
    expect(joined(['a', ...Array.from({ length: 10 }, () => '}'), 'b'])).toBe(`a\n${'}\n'.repeat(10)}b\n`);
    expect(joined(Array.from({ length: 11 }, () => '}'))).toBe('}\n[the same line 10 more times]\n');
    expect(joined(Array.from({ length: 30 }, () => 'abcde'))).toBe('abcde\n'.repeat(30));
    expect(joined([])).toBe('');
  });
});
