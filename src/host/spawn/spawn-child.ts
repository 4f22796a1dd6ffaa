import type { Child, ChildSink, ChildSpec, ParkedChild } from './child.js';
import { marksAvailable } from './tree-mark.js';
import { loadLibc, spawnFailure } from '../kernel/index.js';
import { spawnPortableChild } from './portable-spawn.js';
import { withLimits } from './process-limits.js';
import { becomeSubreaper, isSubreaper } from './orphans.js';
import { spawnPosixChild, spawnParkedPosixChild } from './posix-child.js';

/** What this machine offers for running programs. */
export interface HostCapabilities {
  /** `posixSpawn` takes the same time whatever the size of the server; `childProcess` runs everywhere. */
  readonly backend: 'posixSpawn' | 'childProcess';
  readonly terminals: boolean;
  /** `mark`: every descendant is found. `session`: all but those that left the session and lost their parent. */
  readonly lineage: 'mark' | 'session';
  /** True if orphans become our children, see `adoptOrphans`; trees are found and killed either way. */
  readonly subreaper: boolean;
  /** True if the trees die even when this process is killed. */
  readonly watchdog: boolean;
}

/** Set to `childProcess` to do without koffi, for tests and for machines where it misbehaves. Read once. */
const BACKEND_VARIABLE = 'EXECWIRE_SPAWN_BACKEND';

/**
 * Starts a program on this machine. Synchronous: throws `spawnFailed` (`data.reason` says why), `ptyUnavailable` or
 * `limitsUnavailable`, or returns a running child. The sink gets its first event in the next turn of the event loop at the earliest.
 */
export function spawnChild(spec: ChildSpec, sink: ChildSink): Child {
  const limited = withLimits(spec);
  return usesPosixSpawn() ? spawnPosixChild(limited, sink) : spawnPortableChild(limited, sink);
}

/** Like `spawnChild`, for a child nobody listens to yet. Throws with `node:child_process`, which always listens. */
export function spawnParkedChild(spec: ChildSpec): ParkedChild {
  if (!usesPosixSpawn()) throw spawnFailure('systemError', 'A child of this backend is always listened to.');
  return spawnParkedPosixChild(spec);
}

/**
 * Makes orphans of our trees our own children, so that they get reaped. For a process that does nothing else: in an
 * application it would also collect the orphans of the application's own children, which nobody here may reap.
 */
export function adoptOrphans(): boolean {
  return usesPosixSpawn() && becomeSubreaper();
}

/** The capabilities of this machine. Cheap after the first call. */
export function hostCapabilities(): HostCapabilities {
  const posix = usesPosixSpawn();
  const marked = posix && marksAvailable();
  return {
    backend: posix ? 'posixSpawn' : 'childProcess',
    terminals: posix,
    lineage: marked ? 'mark' : 'session',
    subreaper: isSubreaper(),
    watchdog: marked,
  };
}

let wanted: boolean | undefined;

function usesPosixSpawn(): boolean {
  wanted ??= process.env[BACKEND_VARIABLE] !== 'childProcess';
  return wanted && loadLibc() !== null;
}
