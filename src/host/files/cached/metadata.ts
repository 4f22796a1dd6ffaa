import type { FileMetadata } from '../../../contract/index.js';
import { withCachedFd, type PlaceFacts } from './place.js';

/** The metadata of a path if the kernel has it in memory; null otherwise. */
export function cachedMetadata(path: Buffer, options: { followSymlinks?: boolean }): FileMetadata | null {
  if (options.followSymlinks === false)
    return withCachedFd(path, 'none', (_, facts) => described(facts, false));
  return withCachedFd(path, 'lastAsIs', (_, facts) =>
    facts.kind === 'link'
      ? withCachedFd(path, 'follow', (_target, target) => described(target, true))
      : described(facts, false),
  );
}

function described(facts: PlaceFacts, isSymlink: boolean): FileMetadata {
  const { kind, size, createdAtMs, modifiedAtMs } = facts;
  return {
    isDirectory: kind === 'directory',
    isFile: kind === 'file',
    isSymlink,
    size,
    createdAtMs,
    modifiedAtMs,
  };
}
