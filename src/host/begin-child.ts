import type { ProcessLog } from '../contract/index.js';
import type { LocalProcessSpec } from './local-process-spec.js';
import type { Child, ChildSink } from './spawn/index.js';
import { spawnScripted } from './spawn-scripted.js';
import { appendUnentered, adoptChild } from './adopt-child.js';

/** Spawns the child of a process, in its sandbox if it has one, or continues with the child of an earlier server. */
export function beginChild(
  spec: LocalProcessSpec,
  log: ProcessLog,
  sink: ChildSink,
): { child: Child; writes: readonly string[] } {
  const { taken, keeping, confined } = spec;
  if (!taken || !keeping)
    return { child: confined ? confined.spawn(sink) : spawnScripted(spec, sink), writes: [] };
  appendUnentered(log, taken.unentered);
  return adoptChild(taken, { log, keeping, sink });
}
