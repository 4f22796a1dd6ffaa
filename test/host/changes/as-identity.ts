// Needs: setpriv
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { TestFolder } from '../../harness/processes.js';
import type { Identity } from '../sandbox/harness.js';

/** Runs a program beside us with a folder of its own, as root or as a plain user. Resolves to what it printed. */
export async function linesAs(
  { uid }: Identity,
  program: string,
  args: readonly string[] = [],
): Promise<string[]> {
  using folder = new TestFolder();
  const place = folder.file('place');
  mkdirSync(place);
  // A plain user must get there.
  chmodSync(dirname(place), 0o755);
  const drop = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  if (uid !== undefined) chownSync(place, uid, uid);
  const path = fileURLToPath(new URL(program, import.meta.url));
  const [command = '', ...rest] = [...drop, process.execPath, path, place, ...args];
  const child = spawn(command, rest, {
    env: { ...process.env, HOME: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await text(child.stdout)).trim().split('\n');
}
