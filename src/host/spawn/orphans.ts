import { marksAvailable } from './tree-mark.js';
import { trackForeignChildren } from './foreign-children.js';
import { libc, linux } from '../kernel/index.js';
import { startReapingOrphans } from './reaper.js';

let adopting = false;

/** Makes orphans of our trees our own children. Only if marks distinguish them from other code's children. */
export function becomeSubreaper(): boolean {
  if (adopting || !marksAvailable()) return adopting;
  adopting = libc().prctl(linux.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
  if (adopting) {
    startReapingOrphans();
    trackForeignChildren();
  }
  return adopting;
}

export function isSubreaper(): boolean {
  return adopting;
}
