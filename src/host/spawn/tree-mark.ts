import { randomBytes } from '../kernel/random.js';
import { libc, loadLibc } from '../kernel/libc.js';

/*
 * Every child is dyed: it inherits a soft limit for the CPU time of real-time threads that is a number of its
 * own, about 250,000 years. The limit means nothing to other threads, is passed on by fork and exec, survives
 * setsid, double forks and an emptied environment, and everybody can read it in /proc/PID/limits. So the whole
 * tree of a child can be found at any time, whoever its members' parents are by now.
 */

const RLIMIT_RTTIME = 15;
const UNLIMITED = 0xffff_ffff_ffff_ffffn;
const DIGITS = 9;
/** 19 digits with these in front stay below 2^63, where the kernel keeps them exactly. */
const CHILD_DIGIT = '8';
/** For the server's own helper, which belongs to no tree but must be recognised when its server is gone. */
const HELPER_DIGIT = '7';

const nonce = String(randomBytes(6).readUIntBE(0, 6) % 10 ** DIGITS).padStart(DIGITS, '0');

/** What all numbers of this server begin with. */
export const dyePrefix = `${CHILD_DIGIT}${nonce}`;

let lastOwner = 0;

/** A number for the next child. */
export function nextOwner(): number {
  lastOwner += 1;
  return lastOwner;
}

let available: boolean | undefined;

/** Whether children can be marked: the hard limit must leave room for our numbers. */
export function dyeAvailable(): boolean {
  available ??= probe();
  return available;
}

function probe(): boolean {
  const library = loadLibc();
  if (library === null) return false;
  const limits = new BigUint64Array(2);
  if (library.getrlimit(RLIMIT_RTTIME, limits) !== 0 || limits[1] !== UNLIMITED) return false;
  return dyed(
    0,
    () => library.getrlimit(RLIMIT_RTTIME, limits) === 0 && String(limits[0]).startsWith(dyePrefix),
  );
}

/** Runs `spawn` while our own limit is the owner's number. Synchronous, so nothing else inherits it. */
export function dyed<T>(owner: number, spawn: () => T): T {
  return withLimit(dyePrefix + String(owner).padStart(DIGITS, '0'), spawn);
}

/** The same for the server's helper. */
export function dyedAsHelper<T>(spawn: () => T): T {
  return withLimit(HELPER_DIGIT + nonce + '0'.repeat(DIGITS), spawn);
}

function withLimit<T>(number: string, spawn: () => T): T {
  const { getrlimit, setrlimit } = libc();
  const original = new BigUint64Array(2);
  getrlimit(RLIMIT_RTTIME, original);
  setrlimit(RLIMIT_RTTIME, BigUint64Array.of(BigInt(number), original[1] ?? UNLIMITED));
  try {
    return spawn();
  } finally {
    setrlimit(RLIMIT_RTTIME, original);
  }
}

const LIMIT_NAME = 'Max realtime timeout';
const NUMBER_LENGTH = 1 + 2 * DIGITS;

/** The number in the text of /proc/PID/limits if it looks like a dye, of whichever server. */
export function readDye(limits: string): string | null {
  const line = limits.lastIndexOf(LIMIT_NAME);
  if (line < 0) return null;
  const value = limits.slice(line + LIMIT_NAME.length).trimStart();
  const dye = value.slice(0, NUMBER_LENGTH);
  return /^[78]\d{18}$/.test(dye) ? dye : null;
}

/** The mark this server itself carries when it runs inside a child of another one; its helpers carry it too. */
export function inheritedDye(): string | null {
  const library = loadLibc();
  const limits = new BigUint64Array(2);
  if (library === null || library.getrlimit(RLIMIT_RTTIME, limits) !== 0) return null;
  return readDye(`${LIMIT_NAME} ${limits[0]}`);
}

/** Whether it marks a child of some server, rather than a helper. */
export function isChildDye(dye: string): boolean {
  return dye.startsWith(CHILD_DIGIT);
}

/** The owner a dye of this server names, or null for another server's. */
export function ownerOfDye(dye: string): number | null {
  return dye.startsWith(dyePrefix) ? Number(dye.slice(dyePrefix.length)) : null;
}
