import { ExecError } from '../protocol/errors.js';
import { isFileUri } from '../protocol/file-uri.js';
import type { FilePlace } from './file-place.js';
import { childPath, listing } from './listing.js';
import { nameTest } from './name-pattern.js';
import { hasNothing } from './open-place.js';

/** More files than anyone means to copy with one pattern. */
const MAX_MATCHES = 10_000;

/** Whether a path contains wildcards. The shell expands them for this machine only. */
export function isPattern(path: string): boolean {
  return !isFileUri(path) && /[*?[]/.test(path);
}

/** The paths on a machine that match an absolute pattern, sorted. */
export async function expandPattern({ files, path }: FilePlace): Promise<string[]> {
  let found = ['/'];
  for (const name of path.split('/').filter((each) => each !== '')) {
    const next: string[] = [];
    for (const directory of found) {
      next.push(...(await below({ files, path: directory }, name)));
      if (next.length > MAX_MATCHES)
        throw new ExecError('invalidFile', `The pattern matches more than ${MAX_MATCHES} files; narrow it.`);
    }
    found = next;
  }
  return found.sort();
}

async function below(directory: FilePlace, name: string): Promise<string[]> {
  if (!isPattern(name)) {
    const path = childPath(directory.path, { name, path: name });
    return (await hasNothing({ ...directory, path })) ? [] : [path];
  }
  const fits = nameTest(name);
  // As in a shell, a directory that cannot be listed matches nothing.
  const entries = await listing(directory).catch(() => []);
  return entries.filter((entry) => fits(entry.name)).map((entry) => childPath(directory.path, entry));
}
