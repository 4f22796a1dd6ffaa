import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bin } from '../../testkit/launch.mjs';

/** Runs `execwire upgrade` to its end. */
export async function runUpgrade(
  url: string,
  args: readonly string[] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [bin, 'upgrade', '-e', url, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}
