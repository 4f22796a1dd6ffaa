import type { HeldChange } from './changes.js';

/** What a change is, in one letter, as `git status` has it. */
export const CHANGE_LETTERS: Readonly<Record<HeldChange['kind'], string>> = {
  created: 'A',
  modified: 'M',
  deleted: 'D',
  typeChanged: 'T',
  linkChanged: 'L',
  attributesChanged: 'm',
};
