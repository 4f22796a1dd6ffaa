import { constants } from 'node:fs';
import type { InheritedFd } from './child.js';
import type { DescriptorScope } from './descriptors.js';
import { errnoName, libc, linux } from '../kernel/index.js';

/** The child's 0, 1 and 2: our descriptors, or a path it opens itself. */
export type StandardStreams =
  | {
      readonly kind: 'pipes';
      readonly stdin: number | null;
      readonly stdout: number;
      readonly stderr: number;
    }
  | { readonly kind: 'terminal'; readonly path: string; readonly controlling: boolean }
  | { readonly kind: 'silent'; readonly stdin: number };

export interface SpawnRequest {
  /** The file to execute; independent of the `argv[0]` the program sees. */
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly streams: StandardStreams;
  readonly inheritFds?: readonly InheritedFd[];
}

/** Sizes of glibc's opaque structs on 64-bit machines. */
const ACTIONS_BYTES = 80;
const ATTRIBUTES_BYTES = 336;
const SIGNAL_SET_BYTES = 128;

let attributes: Uint8Array | undefined;

/** A new session with no signal blocked or ignored. The same for every child, so built once. */
function sharedAttributes(): Uint8Array {
  if (attributes) return attributes;
  const { attributesInit, attributesSetFlags, attributesSetMask, attributesSetDefault } = libc();
  const made = new Uint8Array(ATTRIBUTES_BYTES);
  // Not `sigfillset`: it omits the two signals glibc uses internally, which would then stay ignored.
  const allSignals = new Uint8Array(SIGNAL_SET_BYTES).fill(0xff);
  attributesInit(made);
  attributesSetMask(made, new Uint8Array(SIGNAL_SET_BYTES));
  attributesSetDefault(made, allSignals);
  attributesSetFlags(
    made,
    linux.POSIX_SPAWN_SETSID | linux.POSIX_SPAWN_SETSIGMASK | linux.POSIX_SPAWN_SETSIGDEF,
  );
  attributes = made;
  return made;
}

/**
 * Starts a program without forking our memory, so the time does not grow with the size of the server. Returns the pid,
 * or the errno name if the program could not be started.
 */
export function posixSpawn(
  request: SpawnRequest,
  scope: DescriptorScope,
): { pid: number } | { errno: string } {
  const { actionsInit, actionsDestroy, actionsChdir, posixSpawn: spawn } = libc();
  const inherited = liftInherited(request.inheritFds ?? [], scope);
  const actions = new Uint8Array(ACTIONS_BYTES);
  actionsInit(actions);
  try {
    connectStreams(actions, request.streams);
    for (const { childFd, fd } of inherited) libc().actionsDup2(actions, fd, childFd);
    actionsChdir(actions, request.cwd);
    const pid = new Int32Array(1);
    const env = Object.entries(request.env).map(([name, value]) => `${name}=${value}`);
    const failure = spawn(
      pid,
      request.path,
      actions,
      sharedAttributes(),
      [...request.argv, null],
      [...env, null],
    );
    return failure === 0 ? { pid: pid[0] ?? 0 } : { errno: errnoName(failure) };
  } finally {
    actionsDestroy(actions);
  }
}

/**
 * Moves descriptors whose numbers the child will use above that range, so that no `dup2` overwrites one a later call
 * needs.
 */
function liftInherited(wanted: readonly InheritedFd[], scope: DescriptorScope): InheritedFd[] {
  const lowest = Math.max(2, ...wanted.map(({ childFd }) => childFd)) + 1;
  return wanted.map(({ childFd, fd }) => ({
    childFd,
    fd: fd < lowest ? scope.duplicate(fd, lowest) : fd,
  }));
}

function connectStreams(actions: Uint8Array, streams: StandardStreams): void {
  const { actionsDup2, actionsOpen } = libc();
  if (streams.kind === 'terminal') {
    // The first terminal a session leader opens becomes its controlling terminal.
    const flags = constants.O_RDWR | (streams.controlling ? 0 : constants.O_NOCTTY);
    actionsOpen(actions, 0, streams.path, flags, 0);
    actionsDup2(actions, 0, 1);
    actionsDup2(actions, 0, 2);
    return;
  }
  if (streams.stdin === null) actionsOpen(actions, 0, '/dev/null', constants.O_RDONLY, 0);
  else actionsDup2(actions, streams.stdin, 0);
  if (streams.kind === 'silent') {
    actionsOpen(actions, 1, '/dev/null', constants.O_WRONLY, 0);
    actionsDup2(actions, 1, 2);
    return;
  }
  actionsDup2(actions, streams.stdout, 1);
  actionsDup2(actions, streams.stderr, 2);
}
