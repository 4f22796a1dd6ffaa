import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import type { Environment, FileHandle, FileSystem } from '../../src/contract/index.js';
import { copyPath, type OpenPlace } from '../../src/copy/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { noObserver } from '../harness/copy-jobs.js';

const BLOCK = 1024 * 1024;
/** Whole blocks, as far as anybody knew when the copy began. */
const SIZE = 2 * BLOCK;
const GROWN = SIZE + 5;
const LAST = SIZE - BLOCK;

/** A log on another machine. It grows between the moment its last block is read and the moment what follows is. */
function growingLog(answersFirst: number): OpenPlace {
  const answered = new EventEmitter();
  const other = once(answered, 'first');
  const handle: Partial<FileHandle> = {
    read: async (offset, length) => {
      if ((offset === LAST || offset === SIZE) && offset !== answersFirst) await other;
      const end = offset === LAST ? SIZE : GROWN;
      const bytes = new Uint8Array(Math.max(0, Math.min(length, end - offset)));
      if (offset === answersFirst) setImmediate(() => answered.emit('first'));
      return { bytes, eof: offset + bytes.length >= end };
    },
    close: async () => undefined,
  };
  const metadata = { isDirectory: false, isFile: true, isSymlink: false, size: SIZE, mode: 0o644 };
  return place({
    machine: 'far',
    files: {
      getMetadata: async () => ({ ...metadata, createdAtMs: 1, modifiedAtMs: 1 }),
      readDirectory: async () => {
        throw new ExecError('invalidFile', 'It is no directory.');
      },
      open: async () => handle as FileHandle,
    },
  });
}

/** Where nothing is. What is written to it is noted by offset. */
function emptyPlace(written: Map<number, number>): OpenPlace {
  const handle: Partial<FileHandle> = {
    write: async (offset, bytes) => void written.set(offset, bytes.length),
    close: async () => undefined,
    closeAs: async () => undefined,
  };
  return place({
    files: {
      getMetadata: async () => {
        throw new ExecError('notFound', 'Nothing is there.');
      },
      open: async () => handle as FileHandle,
    },
  });
}

function place({ files, machine }: { files: Partial<FileSystem>; machine?: string }): OpenPlace {
  return {
    environment: {} as Environment,
    files: files as FileSystem,
    path: '/log',
    ...(machine === undefined ? {} : { machine }),
    renames: true,
    writesAtomically: true,
    placesFiles: true,
    keepsLinksAndTimes: true,
  };
}

test.each([
  ['its old end', LAST, SIZE],
  ['what was added', SIZE, GROWN],
])(
  'a file that grows while it is copied is whole up to some point: %s is seen first',
  async (_, first, end) => {
    const written = new Map<number, number>();
    await copyPath(growingLog(first), emptyPlace(written), noObserver());
    expect([...written.values()].reduce((sum, bytes) => sum + bytes, 0)).toBe(end);
  },
);
