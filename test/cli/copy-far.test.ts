import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Environment, FileHandle, FileMetadata, FileSystem } from '../../src/contract/index.js';
import { copyPath, type OpenPlace } from '../../src/copy/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { noObserver } from '../harness/copy-jobs.js';

const MEBIBYTE = 1024 * 1024;
const SIZE = 240 * MEBIBYTE;
const ROUND_TRIP_MS = 200;
/** 1000 Mbit/s. */
const BYTES_PER_MS = 125_000;
/** The most content a copy has under way. */
const ROOM_BYTES = 28 * MEBIBYTE;
/** The least time in which the content passes, and what asking for it and hearing of its end take. */
const IDEAL_MS = SIZE / BYTES_PER_MS + 2 * ROUND_TRIP_MS;
/** It takes some round trips to find out what a line holds. */
const LEARNING_MS = 3 * ROUND_TRIP_MS;

// A clock of its own: how long a copy takes says nothing about this machine then.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** One way of a line: what is sent arrives half a round trip later, and no faster than the line carries it. */
class Way {
  #busyUntil = 0;

  async pass(bytes: number): Promise<void> {
    this.#busyUntil = Math.max(performance.now(), this.#busyUntil) + bytes / BYTES_PER_MS;
    const arrivesAt = this.#busyUntil + ROUND_TRIP_MS / 2;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, arrivesAt - performance.now());
    });
  }
}

/** A machine with one file, or with room for one. */
class Machine {
  readonly #there = new Way();
  readonly #back = new Way();
  readonly #isFar: boolean;
  readonly #content: Uint8Array | undefined;
  written = 0;
  /** Bytes of content that were asked for or sent, and are not there yet. */
  underWay = 0;
  mostUnderWay = 0;

  constructor({ isFar, content }: { isFar: boolean; content?: Uint8Array }) {
    this.#isFar = isFar;
    this.#content = content;
  }

  place(): OpenPlace {
    const environment: Partial<Environment> = { info: async () => ({}) as never };
    return {
      environment: environment as Environment,
      files: this.#files() as FileSystem,
      path: '/file',
      ...(this.#isFar ? { machine: 'far' } : {}),
      renames: true,
      writesAtomically: true,
      placesFiles: true,
      keepsLinksAndTimes: true,
    };
  }

  async #trip(sent: number, answered: number): Promise<void> {
    if (!this.#isFar) return;
    await this.#there.pass(sent);
    await this.#back.pass(answered);
  }

  #files(): Partial<FileSystem> {
    return {
      getMetadata: async () => {
        await this.#trip(100, 100);
        if (this.#content) return METADATA;
        throw new ExecError('notFound', 'Nothing is there.');
      },
      readDirectory: async () => {
        await this.#trip(100, 100);
        throw new ExecError('invalidFile', 'It is no directory.');
      },
      open: async () => this.#handle() as FileHandle,
    };
  }

  #handle(): Partial<FileHandle> {
    return {
      read: async (offset, length) => {
        await this.#count(this.#trip(100, length));
        const isEnd = offset + length >= SIZE;
        return { bytes: (this.#content as Uint8Array).subarray(0, offset < SIZE ? length : 0), eof: isEnd };
      },
      write: async (_, bytes) => {
        await this.#count(this.#trip(bytes.length, 100));
        this.written += bytes.length;
      },
      close: () => this.#trip(100, 100),
      closeAs: () => this.#trip(100, 100),
    };
  }

  async #count(trip: Promise<void>): Promise<void> {
    this.underWay += MEBIBYTE;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    await trip;
    this.underWay -= MEBIBYTE;
  }
}

const METADATA: FileMetadata = {
  isDirectory: false,
  isFile: true,
  isSymlink: false,
  size: SIZE,
  mode: 0o644,
  createdAtMs: 1,
  modifiedAtMs: 1,
};

test.each(['down', 'up'])('a large file fills a line that holds much: %s', async (direction) => {
  const content = new Uint8Array(MEBIBYTE);
  const from = new Machine({ isFar: direction === 'down', content });
  const to = new Machine({ isFar: direction === 'up' });
  const began = performance.now();
  const copied = copyPath(from.place(), to.place(), noObserver()).then(() => performance.now() - began);
  const clock = { isNeeded: true };
  void copied.finally(() => {
    clock.isNeeded = false;
  });
  while (clock.isNeeded) {
    await nextTurn();
    await vi.advanceTimersToNextTimerAsync();
  }
  expect(to.written).toBe(SIZE);
  const far = direction === 'down' ? from : to;
  expect(far.mostUnderWay).toBeLessThanOrEqual(ROOM_BYTES);
  expect(await copied).toBeLessThan(IDEAL_MS + LEARNING_MS);
});
