import { errnoOf } from '../kernel/index.js';

const FULL: readonly string[] = ['ENOSPC', 'EDQUOT'];

/** Whether something could not be written because the disk, or somebody's share of it, is full. */
export function isFull(error: unknown): boolean {
  return FULL.includes(errnoOf(error));
}
