import {
  CHUNK_BYTES,
  type Child,
  type ChildSink,
  goneChild,
  keptWrites,
  adoptPosixChild,
} from './spawn/index.js';
import type { ProcessLog } from '../contract/index.js';
import type { ProcessKeeping, TakenProcess } from './process-keeping.js';

/** Continues with the child of an earlier server. Returns the ids of the writes it had been sent, too. */
export function adoptChild(
  { kept, inputNames }: TakenProcess,
  { log, keeping, sink }: { log: ProcessLog; keeping: ProcessKeeping; sink: ChildSink },
): { child: Child; writes: readonly string[] } {
  if (log.closed) return { child: goneChild(kept.root), writes: keptWrites(keeping.inputPath, inputNames) };
  const { child, record } = adoptPosixChild(kept, keeping, sink);
  return { child, writes: record.writes };
}

/** Output that was read from the program but not delivered. */
export function appendUnentered(log: ProcessLog, unentered: TakenProcess['unentered']): void {
  if (!unentered) return;
  const { stream, bytes } = unentered;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    log.appendOutput(stream, bytes.subarray(at, at + CHUNK_BYTES));
}
