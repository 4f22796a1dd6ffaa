import { closeSync } from 'node:fs';
import { type Child, type ChildSink, type ChildSpec, spawnChild } from './spawn/index.js';
import { SCRIPT_FD } from './sandbox/index.js';

/** Starts a child with `script` as its `SCRIPT_FD`. Takes ownership of the descriptor, even on failure. */
export function spawnScripted(
  { script, ...spec }: ChildSpec & { readonly script?: number | undefined },
  sink: ChildSink,
): Child {
  if (script === undefined) return spawnChild(spec, sink);
  try {
    return spawnChild({ ...spec, inheritFds: [{ childFd: SCRIPT_FD, fd: script }] }, sink);
  } finally {
    closeSync(script);
  }
}
