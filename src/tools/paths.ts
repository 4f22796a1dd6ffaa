import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ToolContext } from './tool.js';

/** A path argument: absolute, or relative to the directory commands run in. */
export const Path = z.string().min(1);

type Place = Pick<ToolContext, 'environment' | 'settings'>;

/** Resolves a path against the directory commands run in. */
export async function absolutePath(path: string, place: Place): Promise<string> {
  if (isAbsolute(path)) return path;
  const { cwd } = place.settings;
  return await fromHome(cwd === undefined ? path : posix.join(cwd, path), place);
}

/** The directory a command runs in that names none; undefined for the environment's own. */
export async function defaultDirectory(place: Place): Promise<string | undefined> {
  const { cwd } = place.settings;
  return cwd === undefined ? undefined : await fromHome(cwd, place);
}

async function fromHome(path: string, { environment }: Place): Promise<string> {
  if (isAbsolute(path)) return path;
  const { cwd } = await environment.info();
  return cwd ? posix.resolve(fileURLToPath(cwd), path) : path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('file:') || posix.isAbsolute(path);
}
