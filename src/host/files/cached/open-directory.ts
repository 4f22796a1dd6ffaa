import { constants } from 'node:fs';
import { withCachedFd, descriptorPath } from './place.js';
import { linux } from '../../kernel/index.js';

/** A descriptor for listing a directory, if its path is in memory; null otherwise. The caller closes it. */
export function openCachedDirectory(path: Buffer): number | null {
  return withCachedFd(path, 'follow', (fd, { kind }, calls) => {
    if (kind !== 'directory') return null;
    const opened = calls.open(
      descriptorPath(fd),
      constants.O_RDONLY | constants.O_DIRECTORY | linux.O_CLOEXEC,
    );
    return opened < 0 ? null : opened;
  });
}
