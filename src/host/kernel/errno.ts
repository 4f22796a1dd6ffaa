import { constants } from 'node:os';

const names = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]));

/** `ENOENT` for 2 and so on. On Linux EAGAIN and EWOULDBLOCK share a number; the first is meant. */
export function errnoName(number: number): string {
  if (number === constants.errno.EAGAIN) return 'EAGAIN';
  return names.get(number) ?? `E${number}`;
}

/** The errno name of a Node error. */
export function errnoOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN';
}
