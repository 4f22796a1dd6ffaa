import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExecError } from '../../../protocol/errors.js';
import { isScarcity, trustedProgram } from '../../kernel/index.js';
import { makeGroup, removeGroup, removeLeftovers } from './limit-groups.js';

/** bubblewrap itself is outside the sandbox but inside the group. */
const OWN_PROCESSES = 1;

/** A control group that limits the number of processes in it. For root, who is exempt from every other limit. */
export interface ProcessGroupLimit {
  /** Prepended to a command that is to start inside the group. */
  readonly prefix: readonly string[];
  /** Removes the group once it is empty. */
  release(): void;
}

/** Makes a group for at most this many processes. */
export function openProcessLimit(maxProcesses: number): ProcessGroupLimit {
  const path = makeLimitedGroup(maxProcesses + OWN_PROCESSES);
  return {
    prefix: ['/bin/sh', '-c', 'echo 0 > "$0" && exec "$@"', join(path, 'cgroup.procs')],
    release: () => removeGroup(path),
  };
}

function makeLimitedGroup(maxTasks: number): string {
  let path: string | undefined;
  try {
    path = makeGroup(findHierarchy());
    writeFileSync(join(path, 'pids.max'), String(maxTasks));
    return path;
  } catch (cause) {
    if (path !== undefined) removeGroup(path);
    throw cannotLimit(cause);
  }
}

/** True if a limit can be enforced: root needs a control group, others a helper program. */
export function canLimitProcesses({ root }: { root: boolean }): boolean {
  try {
    if (!root) return trustedProgram('prlimit') !== null;
    const hierarchy = findHierarchy();
    accessSync(hierarchy, constants.W_OK);
    removeLeftovers(hierarchy);
    return true;
  } catch (error) {
    if (isScarcity(error)) throw error;
    return false;
  }
}

/** Where process-limiting groups can be made: the separate v1 hierarchy or the unified one. */
function findHierarchy(): string {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  for (const [, path = '', type, options = ''] of mounts) {
    if (type === 'cgroup' && options.split(',').includes('pids')) return path;
    if (type === 'cgroup2' && controllersBelow(path).includes('pids')) return path;
  }
  throw cannotLimit();
}

function controllersBelow(path: string): string[] {
  try {
    return readFileSync(join(path, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
  } catch (error) {
    if (isScarcity(error)) throw error;
    return [];
  }
}

function cannotLimit(cause?: unknown): ExecError {
  return new ExecError('sandboxUnavailable', 'A process limit cannot be enforced for root here.', {
    data: {
      reason: 'processLimit',
      hint: 'Run the server as a plain user, or give it a writable cgroup with the pids controller.',
    },
    cause,
  });
}
