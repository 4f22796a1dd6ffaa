import { closeSync } from 'node:fs';
import { type Child, type ChildSink, type ChildSpec, spawnChild } from './spawn/index.js';
import { SCRIPT_FD } from './sandbox/index.js';

/** Starts a child, which finds what `script` holds as `SCRIPT_FD`. The descriptor is taken over, also when it fails. */
export function spawnAny(
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
