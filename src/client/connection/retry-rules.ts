/**
 * Calls that may be sent again when their answer got lost with the connection: done twice they leave the same
 * state as done once. A write is among them because its `writeId` tells a repetition.
 */
const REPEATABLE: ReadonlySet<string> = new Set([
  'environment/info',
  'environment/status',
  'process/list',
  'process/read',
  'process/write',
  'process/resize',
  'process/closeStdin',
  'process/terminate',
  'fs/readFile',
  'fs/getMetadata',
  'fs/canonicalize',
  'fs/readDirectory',
  'fs/walk',
  'fs/search',
]);

/** Calls about a process that exists in one session only. In another one the same id means something else. */
const SESSION_BOUND: ReadonlySet<string> = new Set([
  'process/read',
  'process/write',
  'process/signal',
  'process/resize',
  'process/closeStdin',
  'process/terminate',
]);

export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}

export function isSessionBound(method: string): boolean {
  return SESSION_BOUND.has(method);
}
