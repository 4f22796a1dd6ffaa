import { constants, openSync } from 'node:fs';
import { tryLock } from '../host/kernel/index.js';

const FILE_MODE = 0o600;

/** Locks a file for the life of this process. False if another process has locked it. */
export function lockFile(path: string): boolean {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, FILE_MODE);
  return tryLock(fd, 'exclusive');
}
