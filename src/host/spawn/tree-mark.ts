import { randomBytes } from '../kernel/random.js';
import { libc, type Libc, linux, loadLibc } from '../kernel/index.js';

/**
 * Every child is marked: it inherits a soft limit on the CPU time of real-time threads that is unique to it, about
 * 250,000 years. The limit has no effect on other threads, is passed on by fork and exec, survives setsid, double forks
 * and an emptied environment, and anyone can read it in /proc/PID/limits. So the whole tree of a child can be found at
 * any time, whatever its members' parents are by now.
 */

const UNLIMITED = 0xffff_ffff_ffff_ffffn;
const DIGITS = 9;
/** With these in front, 19 digits stay below 2^63, where the kernel keeps them exactly. */
const CHILD_DIGIT = '8';
/** For the server's own helper, which belongs to no tree but must be recognizable once its server is gone. */
const HELPER_DIGIT = '7';

/** For children of Node that the watchdog ends if the server is killed. To the server itself they are in no tree. */
const GUARDED_DIGIT = '6';

/** Distinguishes the marks of one server from those of others. */
export function createNonce(): string {
  return String(randomBytes(6).readUIntBE(0, 6) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The prefix of all marks of a server. */
function prefixOf(nonce: string): string {
  return `${CHILD_DIGIT}${nonce}`;
}

let nonce = createNonce();
let prefix = prefixOf(nonce);
let firstMark = markOf(CHILD_DIGIT);
let helperMark = markOf(HELPER_DIGIT);
let guardedMark = markOf(GUARDED_DIGIT);
let lastTreeId = 0;

/** The prefix of all marks of this server. */
export function markPrefix(): string {
  return prefix;
}

/** The mark of every child started with `withGuardedMark`. */
export function guardedMarkText(): string {
  return String(guardedMark);
}

/** Continues with the marks of an earlier server. Call before anything is marked. */
export function inheritMarks(marks: { readonly nonce: string; readonly lastTreeId: number }): void {
  nonce = marks.nonce;
  prefix = prefixOf(nonce);
  firstMark = markOf(CHILD_DIGIT);
  helperMark = markOf(HELPER_DIGIT);
  guardedMark = markOf(GUARDED_DIGIT);
  lastTreeId = marks.lastTreeId;
}

function markOf(digit: string): bigint {
  return BigInt(digit + nonce + '0'.repeat(DIGITS));
}

/** Allocates the id of the next child. */
export function nextTreeId(): number {
  lastTreeId += 1;
  return lastTreeId;
}

/** None is higher so far. */
export function newestTreeId(): number {
  return lastTreeId;
}

/** Records that an id is in use, even if another server assigned it. */
export function reserveTreeId(treeId: number): void {
  lastTreeId = Math.max(lastTreeId, treeId);
}

let available: boolean | undefined;

/** True if children can be marked: the hard limit must leave room for our numbers. */
export function marksAvailable(): boolean {
  const library = loadLibc();
  if (library === null) return false;
  available ??= probe(library);
  return available;
}

function probe(library: Libc): boolean {
  const limits = new BigUint64Array(2);
  if (library.getrlimit(linux.RLIMIT_RTTIME, limits) !== 0 || limits[1] !== UNLIMITED) return false;
  return withMark(
    0,
    () => library.getrlimit(linux.RLIMIT_RTTIME, limits) === 0 && String(limits[0]).startsWith(prefix),
  );
}

/** Runs `spawn` while our own limit is the tree's mark. Synchronous, so nothing else inherits it. */
export function withMark<T>(treeId: number, spawn: () => T): T {
  return withLimit(firstMark + BigInt(treeId), spawn);
}

/** Like `withMark`, for the server's helper. */
export function withHelperMark<T>(spawn: () => T): T {
  return withLimit(helperMark, spawn);
}

/** Like `withMark`, for a child of Node that belongs to no tree. */
export function withGuardedMark<T>(spawn: () => T): T {
  return withLimit(guardedMark, spawn);
}

/** Reused by every start. Nothing within `spawn` touches them. */
const original = new BigUint64Array(2);
const changed = new BigUint64Array(2);

function withLimit<T>(number: bigint, spawn: () => T): T {
  const { getrlimit, setrlimit } = libc();
  getrlimit(linux.RLIMIT_RTTIME, original);
  changed[0] = number;
  changed[1] = original[1] ?? UNLIMITED;
  setrlimit(linux.RLIMIT_RTTIME, changed);
  try {
    return spawn();
  } finally {
    setrlimit(linux.RLIMIT_RTTIME, original);
  }
}

const LIMIT_NAME = 'Max realtime timeout';
const NUMBER_LENGTH = 1 + 2 * DIGITS;

/** The limit in the text of /proc/PID/limits if it looks like a mark, of any server. */
export function readMark(limits: string): string | null {
  const line = limits.lastIndexOf(LIMIT_NAME);
  if (line < 0) return null;
  const value = limits.slice(line + LIMIT_NAME.length).trimStart();
  const mark = value.slice(0, NUMBER_LENGTH);
  return /^[78]\d{18}$/.test(mark) ? mark : null;
}

/** The mark this server itself carries if it runs inside another server's child; its helpers carry it, too. */
export function inheritedMark(): string | null {
  const library = loadLibc();
  const limits = new BigUint64Array(2);
  if (library === null || library.getrlimit(linux.RLIMIT_RTTIME, limits) !== 0) return null;
  return readMark(`${LIMIT_NAME} ${limits[0]}`);
}

/** True if it marks a child of some server rather than a helper. */
export function isChildMark(mark: string): boolean {
  return mark.startsWith(CHILD_DIGIT);
}

/** The tree that a mark of this server names; null for another server's mark. */
export function treeOfMark(mark: string): number | null {
  return mark.startsWith(prefix) ? Number(mark.slice(prefix.length)) : null;
}
