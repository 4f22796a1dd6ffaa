import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const runner = fileURLToPath(new URL('./run.mjs', import.meta.url));
const LIMIT_MS = 120_000;

describe('soak', () => {
  test(
    'twenty seconds of everything at once: no trend, nothing left, no wrong answer',
    async () => {
      using folder = new TestFolder();
      const child = spawn(process.execPath, [runner, '--seconds', '20', '--out', folder.path], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      // Too late is a failure too, and must not leave the runner and its server behind.
      onTestFinished(() => void child.kill('SIGTERM'));
      const [stdout, stderr] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      expect(stdout).toContain('No trend, nothing left, no wrong answer.');
      expect(stderr).toBe('');
      expect(child.exitCode).toBe(0);
      expect(['README.md', 'soak.svg'].map((name) => existsSync(folder.file(name)))).toEqual([true, true]);
    },
    LIMIT_MS,
  );

  test('a trend is what the last third holds more than the first, beyond the slack', async () => {
    type Module = {
      trendOf: (
        samples: object[],
        metric: { key: string; slack: number },
      ) => { first: number; last: number; grows: boolean };
    };
    const { trendOf } = (await import(new URL('./trend.mjs', import.meta.url).href)) as Module;
    const samples = (value: (index: number) => number) =>
      Array.from({ length: 100 }, (_, index) => ({ held: value(index) }));
    const judge = (value: (index: number) => number) =>
      trendOf(samples(value), { key: 'held', slack: 10 }).grows;
    expect(judge(() => 100)).toBe(false);
    expect(judge((index) => 100 + (index % 2) * 50)).toBe(false);
    // What happens while it warms up does not count.
    expect(judge((index) => (index < 25 ? index : 100))).toBe(false);
    expect(judge((index) => 100 + index)).toBe(true);
  });
});
