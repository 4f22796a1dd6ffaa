import { basename } from 'node:path';
import type { Sandbox } from '../../protocol/index.js';
import type { HeldView } from '../sandbox/index.js';
import type { HeldSet } from './held-set.js';
import { changesFull } from './set-limits.js';
import type { HeldProgram } from './set-meter.js';

/** How to find the files of a program again that an earlier server has started. */
export interface KeptUse {
  readonly folder: string;
  readonly mountPoints: readonly string[];
}

/** A program that is about to run in a set. */
export interface HeldUse {
  readonly changesId: string;
  /** Undefined if it may change nothing and nothing it sees has been changed. */
  readonly view: HeldView | undefined;
  readonly kept: KeptUse | undefined;
  /** Throws `changesFull` if nothing more fits into the set. */
  readonly requireRoom: () => Promise<void>;
  /** The program runs. It is told when the set is full. */
  readonly runs: (program: HeldProgram) => void;
  /** Something was changed by nobody's program. */
  readonly changed: () => void;
  /** The program has ended. Its sandbox will, in a moment. */
  readonly ended: () => void;
  /** Nothing is left of it. Idempotent. */
  readonly close: () => void;
}

/** Who asks, and for what. */
export interface UseRequest {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly temporary: string | undefined;
  /** It is a file operation. Default: a program. */
  readonly isBrief?: boolean | undefined;
  /** Whose set it becomes if there is none yet, and whose share of the room it takes. */
  readonly owner: string;
  readonly share: string | undefined;
  /** Whose sets may be used. */
  readonly owners: readonly string[];
}

/** Somebody has entered a set. `onLeft`: called afterwards, unless it only looked at files. */
export function useOf(set: HeldSet, view: HeldView | undefined, onLeft: () => void): HeldUse {
  let state: 'in' | 'leaving' | 'out' = 'in';
  let hasChanged = false;
  let hasRun = false;
  let stopWatching = (): void => {};
  const { changesId } = set.record;
  return {
    changesId,
    view,
    kept: view && { folder: basename(set.directory), mountPoints: view.mountPoints },
    requireRoom: async () => {
      await set.meter.update();
      if (set.meter.isFull) throw changesFull(changesId);
    },
    runs: (program) => {
      hasRun = true;
      stopWatching = set.meter.watch(program);
    },
    changed: () => {
      hasChanged = true;
    },
    ended: () => {
      if (state !== 'in') return;
      state = 'leaving';
      set.leaving();
    },
    close: () => {
      if (state === 'out') return;
      stopWatching();
      set.leave({ announced: state === 'leaving' });
      // Its sandbox may be gone before the end of its output is known.
      if (hasRun || hasChanged) onLeft();
      state = 'out';
    },
  };
}
