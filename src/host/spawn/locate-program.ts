import { accessSync, constants, statSync } from 'node:fs';
import { errnoOf, findProgram, spawnFailures } from '../kernel/index.js';
import type { ChildSpec } from './child.js';

/**
 * The file to execute, looked up in the PATH of the *child's* environment, as its own shell would. Whether it can be
 * run is left to `exec`, which also knows best why a path cannot.
 */
export function locateProgram({ argv, cwd, env }: ChildSpec): string {
  const name = argv[0] ?? '';
  if (name.startsWith('/')) return name;
  if (name.includes('/')) return `${cwd}/${name}`;
  const found = findProgram({ name, cwd, path: env.PATH });
  if (found !== null) return found.path;
  throw spawnFailures.notInPath(name);
}

/** Why the file at a path cannot be executed, as far as that can be told without trying; null if it may be possible. */
export function runnableErrno(path: string): string | null {
  try {
    if (statSync(path).isDirectory()) return 'EACCES';
    accessSync(path, constants.X_OK);
    return null;
  } catch (error) {
    return errnoOf(error);
  }
}
