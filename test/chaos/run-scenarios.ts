import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';

/** Runs that many scenarios with one of the programs here, and expects that none of them fails. */
export async function runScenarios(program: string, count: number, more: string[] = []): Promise<void> {
  const runner = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [runner, '--count', String(count), ...more], {
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
  expect(stdout).toContain(`${count} scenarios from seed 1, 0 failed`);
  expect(code).toBe(0);
}
