import type { FileMetadata } from '../../../contract/index.js';
import { atPlace, type PlaceFacts } from './place.js';

/** What a path leads to, if the kernel can tell from memory; null otherwise. */
export function metadataInstantly(path: Buffer, options: { followSymlinks?: boolean }): FileMetadata | null {
  if (options.followSymlinks === false) return atPlace(path, 'none', (_, facts) => described(facts, false));
  return atPlace(path, 'lastAsIs', (_, facts) =>
    facts.kind === 'link'
      ? atPlace(path, 'follow', (_target, target) => described(target, true))
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
