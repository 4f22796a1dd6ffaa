import { type ChildProcess, spawn } from 'node:child_process';
import { ExecError } from '../../protocol/errors.js';
import { bootTicks, errnoOf } from '../kernel/index.js';
import type { Child, ChildSink, ChildSpec } from './child.js';
import { nextTreeId } from './tree-mark.js';
import { locateProgram, runnableErrno } from './locate-program.js';
import { withOomScore } from './oom-score.js';
import { PortableChild } from './portable-child.js';
import { assertSpawnable, explainSpawnError } from './spawn-failure.js';

/** Starts a child through `node:child_process`: pipes only, on any platform. */
export function spawnPortableChild(spec: ChildSpec, sink: ChildSink): Child {
  assertSpawnable(spec);
  if (spec.terminal)
    throw new ExecError('ptyUnavailable', 'This machine has no terminal backend; start without a terminal.');
  const path = locateProgram(spec);
  const startTick = bootTicks();
  const child = start(spec, path);
  // The missing pid reveals a failure immediately; the event merely repeats it later.
  child.on('error', () => {});
  if (child.pid === undefined) {
    for (const stream of child.stdio) stream?.destroy();
    // Node reports the error only in a later turn, so we work it out ourselves.
    throw explainSpawnError(spec, path, runnableErrno(path) ?? 'EUNKNOWN');
  }
  return new PortableChild(child, { pid: child.pid, treeId: nextTreeId(), startTick, marked: false }, sink);
}

function start(spec: ChildSpec, path: string): ChildProcess {
  const { argv, arg0, cwd, env } = spec;
  try {
    const argv0 = arg0 ?? argv[0] ?? path;
    return withOomScore(() =>
      spawn(path, argv.slice(1), { cwd, env: { ...env }, argv0, stdio: stdioOf(spec), detached: true }),
    );
  } catch (error) {
    throw explainSpawnError(spec, path, errnoOf(error));
  }
}

function stdioOf({ stdin, inheritFds = [] }: ChildSpec): ('pipe' | 'ignore' | number)[] {
  const stdio: ('pipe' | 'ignore' | number)[] = [stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'];
  for (const { childFd, fd } of inheritFds) stdio[childFd] = fd;
  return Array.from(stdio, (entry) => entry ?? 'ignore');
}
