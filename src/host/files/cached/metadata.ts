import type { FileMetadata } from '../../../contract/index.js';
import { withCachedFd, type PlaceFacts } from './place.js';

/** What a path leads to, if the kernel can tell from memory; null otherwise. */
export function metadataInstantly(path: Buffer, options: { followSymlinks?: boolean }): FileMetadata | null {
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
