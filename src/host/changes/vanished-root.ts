import { closeSync, existsSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { openDirectory } from './accessible.js';
import { entryOf } from './byte-path.js';
import { looksLikePlaceholder, nodeAt } from './node.js';
import { namesIn } from './scan.js';

/** Whether a directory of a set is gone and nothing is held there, so that nobody misses it. */
export function isGoneUnused(path: string, upper: string): boolean {
  return !existsSync(path) && holdsNothing(upper);
}

function holdsNothing(upper: string): boolean {
  const fd = openDirectory(upper);
  try {
    return namesIn(fd).every((name) => {
      const node = nodeAt(entryOf(fd, name));
      return node === undefined || looksLikePlaceholder(node);
    });
  } finally {
    closeSync(fd);
  }
}

export function directoryGone(path: string): ExecError {
  return new ExecError(
    'ioFailed',
    `${path}, where changes are held, is gone or has been replaced by a link.`,
    {
      data: { reason: 'ENOENT' },
    },
  );
}

/** While programs still run in it. */
export function setGone(): ExecError {
  return new ExecError('changesNotFound', 'Somebody has removed the folder of these changes.');
}
