import { constants } from 'node:fs';
import { libc, linux, spawnFailure, spawnFailures } from '../kernel/index.js';

/** Descriptors opened for one spawn. All but the `keep`-ed ones are closed with the scope, even on failure. */
export class DescriptorScope implements Disposable {
  readonly #open = new Set<number>();

  pipe(): { readEnd: number; writeEnd: number } {
    const ends = new Int32Array(2);
    if (libc().pipe2(ends, linux.O_CLOEXEC) !== 0) throw descriptorFailure(libc().errno());
    const [readEnd = -1, writeEnd = -1] = ends;
    return { readEnd: this.own(readEnd), writeEnd: this.own(writeEnd) };
  }

  /** A duplicate whose number is at least `lowest`. */
  duplicate(fd: number, lowest = 3): number {
    const copy = libc().fcntl(fd, linux.F_DUPFD_CLOEXEC, 'int', lowest);
    if (copy < 0) throw descriptorFailure(libc().errno());
    return this.own(copy);
  }

  own(fd: number): number {
    this.#open.add(fd);
    return fd;
  }

  /** Removes the descriptor from the scope: its new owner closes it. */
  keep(fd: number): number {
    this.#open.delete(fd);
    return fd;
  }

  [Symbol.dispose](): void {
    for (const fd of this.#open) libc().close(fd);
    this.#open.clear();
  }
}

const waiting = new Int32Array(1);

/** Bytes waiting in a pipe or terminal. */
export function waitingBytes(fd: number): number {
  return libc().ioctl(fd, linux.FIONREAD, 'void *', waiting) === 0 ? (waiting[0] ?? 0) : 0;
}

/** Reads and writes return rather than wait. Applies to all copies of the descriptor. */
export function doNotBlock(fd: number, access: 'read' | 'write'): void {
  const flags = (access === 'read' ? constants.O_RDONLY : constants.O_WRONLY) | constants.O_NONBLOCK;
  if (libc().fcntl(fd, linux.F_SETFL, 'int', flags) !== 0) throw descriptorFailure(libc().errno());
}

/** The error for a descriptor that could not be created. */
export function descriptorFailure(errno: string): Error {
  const scarce = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EAGAIN'].includes(errno);
  if (scarce) return spawnFailures.noRoom(errno);
  return spawnFailure('systemError', `The process could not be connected (${errno}).`, errno);
}
