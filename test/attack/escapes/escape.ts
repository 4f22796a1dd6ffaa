import type { Site } from './site.js';

/** The policies everything is tried under, from the narrowest to the widest. */
export type PolicyName = 'readOnly' | 'workspace' | 'network';

/** One way out, as a program. */
export interface Escape {
  readonly name: string;
  /**
   * Python that tries, with the names of `attacker.py` and of the site. It wins by calling `won(evidence)`, by changing
   * anything below `outside`, or as `seen` says.
   */
  readonly tries: string;
  /** Looks from outside whether it worked, and takes back what did. `confined`: whether something had to hold it back. */
  readonly seen?: (site: Site, slug: string, how: { confined: boolean }) => boolean | Promise<boolean>;
  /** Policies that allow this. Then it must work. */
  readonly allowedUnder?: readonly PolicyName[];
  /** What must become of it where nothing holds it back. By default it works for everybody. */
  readonly unconfined?: Unconfined;
  /** Works on a terminal, where it reaches nothing but the terminal that was given to the program. */
  readonly ownTerminal?: true;
  /** A process of the host that belongs to this attempt alone: `victim` is its pid. */
  readonly victim?: true;
}

/**
 * - `works`, `worksForRoot`, `worksForPlainUser`: for those it must work.
 * - `varies`: depends on the kernel and what the machine has.
 * - `notTried`: it would do harm, or reach more than the site.
 */
export type Unconfined = 'works' | 'worksForRoot' | 'worksForPlainUser' | 'varies' | 'notTried';

/** Ways out of one kind. */
export interface Theme {
  readonly name: string;
  readonly escapes: readonly Escape[];
  /** Every attempt has a writable root of its own, with the names that are protected in it. */
  readonly ownRoots?: true;
}

/** A name for files, from the name of an escape. */
export function slugOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
}
