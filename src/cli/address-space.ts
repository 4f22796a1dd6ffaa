import { readFileSync } from 'node:fs';
import { ExecError } from '../protocol/index.js';

const MIB = 1024 * 1024;
/** What V8 and its threads reserve from here to a server that has done one of everything. */
const NEEDED_BYTES = 160 * MIB;

/**
 * Refuses to serve where a limit of the address space (`ulimit -v`) would end the process in the middle of something: V8 aborts
 * when it cannot reserve memory, and nobody can catch that.
 */
export function requireAddressSpace(): void {
  const left = addressSpaceLeft();
  if (left >= NEEDED_BYTES) return;
  const missing = Math.ceil((NEEDED_BYTES - left) / MIB);
  throw new ExecError(
    'invalidConfiguration',
    `The address space limit is too small for a server; raise it by ${missing} MiB or remove it (ulimit -v unlimited).`,
  );
}

/** Infinite without a limit, and where the system does not say. */
function addressSpaceLeft(): number {
  try {
    const limit = /^Max address space +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    if (limit === undefined) return Number.POSITIVE_INFINITY;
    const used = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    return Number(limit) - Number(used) * 1024;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
