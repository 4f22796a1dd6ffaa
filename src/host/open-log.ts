import { type LogArchive, ProcessLog } from '../contract/index.js';
import type { LocalProcessOptions, LocalProcessSpec } from './local-process-spec.js';
import { releaseChunk } from './spawn/index.js';

interface LogEnds {
  readonly archive: LogArchive | undefined;
  readonly onPressure: (paused: boolean) => void;
}

/** The log of a new process, or that of an earlier server continued. */
export function openLog(
  { spills, taken }: LocalProcessSpec,
  { retainedBytes, windowBytes, recycled }: LocalProcessOptions,
  { archive, onPressure }: LogEnds,
): ProcessLog {
  return new ProcessLog({
    ...(retainedBytes === undefined ? {} : { retainedBytes }),
    ...(windowBytes === undefined ? {} : { windowBytes }),
    ...(recycled ? { onEvicted: releaseChunk } : {}),
    archive,
    spills,
    resumed: taken?.log,
    onPressure,
  });
}
