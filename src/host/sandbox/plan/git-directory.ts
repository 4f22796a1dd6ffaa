import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { posix } from 'node:path';
import { parentOf } from '../../../policy/internal.js';
import { type FileView, hostView } from './file-view.js';

/** A pointer is one line with one path. */
const MAX_POINTER_BYTES = 8 * 1024;

/**
 * Where git keeps its data if `.git` is a file: in worktrees, submodules and clones with a separate directory. Both the
 * worktree's own directory and the shared one hold settings and hooks that git runs.
 */
export function gitDirectoriesOf(pointer: string, view: FileView = hostView): readonly string[] {
  const target = /^gitdir: *(.+)/.exec(firstLineOf(view.reach(pointer)))?.[1];
  if (target === undefined) return [];
  const own = posix.resolve(parentOf(pointer), target);
  const shared = firstLineOf(view.reach(posix.join(own, 'commondir')));
  return shared === '' ? [own] : [own, posix.resolve(own, shared)];
}

/** Empty if there is none. Links and pipes are not followed: anyone may have put them there. */
function firstLineOf(path: string): string {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      if (!fstatSync(fd).isFile()) return '';
      const bytes = Buffer.alloc(MAX_POINTER_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes)).split('\n')[0]?.trimEnd() ?? '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
