import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isFileUri, parseFileUri, pathText } from '../protocol/file-uri.js';
import type { ToolContext } from './tool.js';

/** A path argument: absolute, relative to the directory commands run in, below `~`, or a `file:` URI. */
export const Path = z.string().min(1);

type Place = Pick<ToolContext, 'environment' | 'settings'>;

/** Resolves a path against the directory commands run in. */
export async function absolutePath(path: string, place: Place): Promise<string> {
  if (isFileUri(path)) return pathText(parseFileUri(path));
  if (posix.isAbsolute(path)) return path;
  const below = path === '~' ? '' : path.startsWith('~/') ? path.slice(2) : null;
  if (below !== null) {
    const { userHomeDir } = await place.environment.info();
    if (userHomeDir) return posix.join(fileURLToPath(userHomeDir), below);
  }
  const { cwd } = place.settings;
  return await fromStart(cwd === undefined ? path : posix.join(cwd, path), place);
}

/** The directory a command runs in that names none; undefined for the environment's own. */
export async function defaultDirectory(place: Place): Promise<string | undefined> {
  const { cwd } = place.settings;
  return cwd === undefined ? undefined : await fromStart(cwd, place);
}

async function fromStart(path: string, { environment }: Place): Promise<string> {
  if (isAbsolute(path)) return path;
  const { cwd } = await environment.info();
  return cwd ? posix.resolve(fileURLToPath(cwd), path) : path;
}

function isAbsolute(path: string): boolean {
  return isFileUri(path) || posix.isAbsolute(path);
}
