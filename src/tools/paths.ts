import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Environment } from '../contract/index.js';

/** A path argument. */
export const Path = z.string().min(1).meta({
  description: 'Absolute, or relative to the directory commands run in.',
});

/** Resolves a path against the environment's working directory. */
export async function absolutePath(path: string, environment: Environment): Promise<string> {
  if (path.startsWith('file:') || posix.isAbsolute(path)) return path;
  const { cwd } = await environment.info();
  return cwd ? posix.resolve(fileURLToPath(cwd), path) : path;
}
