// Needs: bwrap
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const runner = fileURLToPath(new URL('./death.mjs', import.meta.url));
const SCENARIOS = 30;
const LIMIT_MS = 180_000;

// Output by hash, nothing typed twice, no invented end, no process and no file left: see death.mjs.
test(
  `${SCENARIOS} scenarios in which servers and keepers are killed, stopped and replaced`,
  async () => {
    const child = spawn(process.execPath, [runner, '--count', String(SCENARIOS)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
