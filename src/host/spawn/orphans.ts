import { marksAvailable } from './tree-mark.js';
import { noticeForeignChildren } from './foreign-children.js';
import { libc, linux } from '../kernel/index.js';
import { alsoReapOrphans } from './reaper.js';

let adopting = false;

/** Makes orphans of our trees our own children. Only where marks tell them from the children of others. */
export function becomeSubreaper(): boolean {
  if (adopting || !marksAvailable()) return adopting;
  adopting = libc().prctl(linux.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
  if (adopting) {
    alsoReapOrphans();
    noticeForeignChildren();
  }
  return adopting;
}

export function isSubreaper(): boolean {
  return adopting;
}
