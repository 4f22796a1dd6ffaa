import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** What children get above our own score, in thousandths of the machine's memory: a fifth of it. */
const ABOVE_OURS = 200;
const MOST = 1000;

const OWN_SCORE = '/proc/self/oom_score_adj';

const buffer = Buffer.alloc(16);

/**
 * Runs `spawn` while our own score is higher, which the child inherits: should memory run out, the kernel ends it, and what it
 * starts, before it ends us. Setting the child's after the start would be too late for what it starts first. Every process may
 * raise a score and take that back. Synchronous, so nothing else inherits it.
 */
export function withOomScore<T>(spawn: () => T): T {
  const file = openScore();
  if (file === null) return spawn();
  try {
    // Read each time, because an administrator may change it.
    const own = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).trim();
    writeSync(file, String(Math.min(Number(own) + ABOVE_OURS, MOST)), 0);
    try {
      return spawn();
    } finally {
      writeSync(file, own, 0);
    }
  } finally {
    closeSync(file);
  }
}

/** Null on other systems, and where no descriptor is left: a start that needs one fails by itself. */
function openScore(): number | null {
  try {
    return openSync(OWN_SCORE, 'r+');
  } catch {
    return null;
  }
}
