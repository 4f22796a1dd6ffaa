import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const runner = fileURLToPath(new URL('./run.mjs', import.meta.url));
const SCENARIOS = 200;
const LIMIT_MS = 180_000;

// Output whole, nothing typed twice, no process left, no descriptor, timer or memory kept: see run.mjs.
test(
  `${SCENARIOS} scenarios of cuts, stalls, silence and sudden death`,
  async () => {
    const child = spawn(process.execPath, [runner, '--count', String(SCENARIOS)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Too late is a failure too, and must not leave the runner and its server behind.
    onTestFinished(() => void child.kill('SIGTERM'));
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect(stderr).toBe('');
    expect(stdout).toContain(`${SCENARIOS} scenarios from seed 1, 0 failed`);
    expect(code).toBe(0);
  },
  LIMIT_MS,
);
