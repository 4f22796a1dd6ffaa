import type { ChangesLimits } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';

const GIB = 1024 ** 3;

export const DEFAULT_LIMITS: ChangesLimits = {
  maxSetBytes: 8 * GIB,
  maxSetFiles: 500_000,
  maxTotalBytes: 32 * GIB,
  maxTotalFiles: 2_000_000,
};

/**
 * How deep directories may be nested. Each level takes descriptors and stack while we are in it, and no path with names of
 * four letters leads deeper. What is deeper counts as too much, and can only be discarded.
 */
export const MAX_DEPTH = 1_024;

export function requireDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new ExecError(
      'changesFull',
      `Directories are nested more than ${MAX_DEPTH} deep, so the set can only be discarded.`,
    );
}

/** The room that something takes. */
export interface Size {
  readonly bytes: number;
  readonly files: number;
}

export const NOTHING: Size = { bytes: 0, files: 0 };

export function sum(sizes: readonly Size[]): Size {
  return sizes.reduce((a, b) => ({ bytes: a.bytes + b.bytes, files: a.files + b.files }), NOTHING);
}

/** What other sets take. */
export interface OtherSets {
  /** Those of the same client. */
  readonly own: Size;
  readonly foreign: Size;
  /** Whether several clients share the room. */
  readonly isShared: boolean;
}

/** How large a set may become while the others are this large. */
export function largestSize(limits: ChangesLimits, { own, foreign, isShared }: OtherSets): Size {
  const left = (total: number, theirs: number, ours: number): number =>
    (isShared ? shareOf(total - theirs) : total - theirs) - ours;
  return {
    bytes: Math.min(limits.maxSetBytes, left(limits.maxTotalBytes, foreign.bytes, own.bytes)),
    files: Math.min(limits.maxSetFiles, left(limits.maxTotalFiles, foreign.files, own.files)),
  };
}

/** However much each client takes, there is something left for the next one. */
export function shareOf(left: number): number {
  return left / 2;
}

export function exceeds(size: Size, largest: Size): boolean {
  return size.bytes > largest.bytes || size.files > largest.files;
}

export function changesFull(changesId: string): ExecError {
  return new ExecError(
    'changesFull',
    'The held changes have reached their size limit. Apply what you want to keep, then discard a set.',
    { data: { changesId } },
  );
}
