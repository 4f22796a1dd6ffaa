import { accessSync, constants, statSync } from 'node:fs';
import type { ChildSpec } from './child.js';
import { spawnFailure } from './spawn-failure.js';

/** Where programs are looked for when the child's environment has no PATH. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The file to execute. A name with a slash is relative to the child's cwd; any other is looked up in the PATH
 * of the *child's* environment, as its own shell would. Whether the file can be run is for `exec` to say.
 */
export function locateProgram({ argv, cwd, env }: ChildSpec): string {
  const name = argv[0] ?? '';
  if (name.startsWith('/')) return name;
  if (name.includes('/')) return `${cwd}/${name}`;
  let unusable: string | undefined;
  for (const entry of (env.PATH ?? DEFAULT_PATH).split(':')) {
    const candidate = inDirectory(entry, { name, cwd });
    const verdict = judge(candidate);
    if (verdict === 'runnable') return candidate;
    if (verdict === 'denied') unusable ??= candidate;
  }
  if (unusable !== undefined) return unusable;
  throw spawnFailure('programNotFound', `There is no program ${name} in the PATH of the process.`, 'ENOENT');
}

/** An empty entry of PATH means the current directory, as it always has. */
function inDirectory(entry: string, { name, cwd }: { name: string; cwd: string }): string {
  if (entry === '') return `${cwd}/${name}`;
  return entry.startsWith('/') ? `${entry}/${name}` : `${cwd}/${entry}/${name}`;
}

/** What cannot be looked at is not there, as for every shell: a directory we may not enter says nothing of the program. */
function judge(candidate: string): 'runnable' | 'denied' | 'absent' {
  if (!isFile(candidate)) return 'absent';
  try {
    accessSync(candidate, constants.X_OK);
    return 'runnable';
  } catch {
    return 'denied';
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
