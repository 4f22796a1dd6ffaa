import { constants } from 'node:os';

const names = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]));

/** `ENOENT` for 2 and so on. EAGAIN and EWOULDBLOCK share a number on Linux; we report the first. */
export function errnoName(number: number): string {
  if (number === constants.errno.EAGAIN) return 'EAGAIN';
  return names.get(number) ?? `E${number}`;
}

/** The errno name of a Node error. */
export function errnoOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN';
}
