import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { WebSocketApp } from '../../testkit/app-server.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireClient } from '../../testkit/wire-client.mjs';
import { computedUntil } from '../harness/processor-time.js';
import { tally, tries } from './tally.js';

/** As many as one connection may have. */
const APP_WATCHES = 1024;
const EXEC_WATCHES = 64;
const FILES = 2000;
/** Each is a message for each watch that does not collect. */
const EXEC_FILES = 400;
/** What is computed before an answer: far more than a list takes, and far less than if it were made for each watch by itself. */
const PATIENCE_MS = 2_000;
/** Lists that are on their way to a reader, and messages that are not collected yet. */
const MOST_BYTES = 160 * 1024 * 1024;
/** Storms one after the other. What each leaves behind adds up. */
const STORMS = tries(1);

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

class Arena implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'storm-'));

  /** Makes new files, in place of those of the storm before. Returns the name of the last. */
  fill(count: number, storm: number): string {
    const name = (number: number, which: number) => join(this.path, `f${number}-${which}`);
    for (let number = 0; number < count; number += 1) {
      rmSync(name(number, storm - 1), { force: true });
      writeFileSync(name(number, storm), '');
    }
    return name(count - 1, storm);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

/** Asks until it is over; the most that was computed before an answer, and the most memory by then. */
async function observe(
  { pid, ask }: { pid: number; ask: () => Promise<unknown> },
  isOver: () => boolean,
): Promise<{ slowestMs: number; mostBytes: number }> {
  let [slowestMs, mostBytes] = [0, 0];
  for (let over = false; !over; ) {
    over = isOver();
    slowestMs = Math.max(slowestMs, await computedUntil(pid, ask));
    mostBytes = Math.max(mostBytes, residentBytes(pid));
  }
  return { slowestMs, mostBytes };
}

function judge(attack: string, tries: number, seen: { slowestMs: number; grownBytes: number }): void {
  const isWon = seen.slowestMs > PATIENCE_MS || seen.grownBytes > MOST_BYTES;
  tally(attack, { tries, successes: isWon ? 1 : 0 });
  expect(seen.slowestMs).toBeLessThan(PATIENCE_MS);
  expect(seen.grownBytes).toBeLessThan(MOST_BYTES);
}

/** Ids of the watches that were told of the last file, or that there was too much to tell. */
function counter(wire: WireClient, isLast: (params: Record<string, unknown>) => boolean): () => number {
  const told = new Set<unknown>();
  // What earlier storms brought is not needed again.
  wire.arrivals.length = 0;
  let read = 0;
  return () => {
    for (; read < wire.arrivals.length; read += 1) {
      const arrival = wire.arrivals[read];
      if (!arrival || !('method' in arrival) || arrival.method !== 'fs/changed') continue;
      const params = arrival.params as Record<string, unknown>;
      if (isLast(params)) told.add(params['watchId']);
    }
    return told.size;
  };
}

const appPlaces = [
  { title: 'on one directory', place: (directory: string) => directory },
  { title: 'on files of one directory', place: (directory: string, n: number) => `${directory}/w${n}` },
];

test.each(appPlaces)(
  'a thousand watches $title, and thousands of new files: an app server answers',
  async ({ title, place }) => {
    using arena = new Arena();
    await using app = await WebSocketApp.start();
    await using watcher = await app.connect();
    await using other = await app.connect();
    await watcher.client.initialize();
    await other.client.initialize();
    const isOneList = place(arena.path, 0) === place(arena.path, 1);
    for (let number = 0; number < APP_WATCHES; number += 1)
      await watcher.client.call('fs/watch', { watchId: `w${number}`, path: place(arena.path, number) });
    const pid = app.child.pid ?? 0;
    const before = residentBytes(pid);
    for (let storm = 0; storm < STORMS; storm += 1) {
      let last = '';
      const told = counter(watcher.client.wire, ({ changedPaths, watchId }) => {
        const paths = changedPaths as string[];
        return paths.includes(place(arena.path, Number(String(watchId).slice(1)))) || paths.includes(last);
      });
      last = arena.fill(FILES, storm);
      // What a watch on a file has to tell follows everything it must pass over.
      if (!isOneList)
        for (let number = 0; number < APP_WATCHES; number += 1)
          writeFileSync(place(arena.path, number), String(storm));
      const { slowestMs, mostBytes } = await observe(
        { pid, ask: () => other.client.call('fs/getMetadata', { path: '/' }) },
        () => told() === APP_WATCHES,
      );
      judge(`watches ${title}`, APP_WATCHES, { slowestMs, grownBytes: mostBytes - before });
    }
  },
);

test.each([0, 200])(
  'as many watches as may be, collecting for %d ms: an exec server answers',
  async (debounceMs) => {
    using arena = new Arena();
    await using server = await ServerProcess.start();
    const [{ client: watcher }, { client: other }] = [await dialWire(server.url), await dialWire(server.url)];
    await watcher.handshake();
    await other.handshake();
    const path = pathToFileURL(arena.path).href;
    for (let number = 0; number < EXEC_WATCHES; number += 1)
      await watcher.call('fs/watch', { watchId: `w${number}`, path, debounceMs });
    const before = residentBytes(server.pid);
    for (let storm = 0; storm < STORMS; storm += 1) {
      let last = '';
      const told = counter(watcher, ({ changes, overflow }) => {
        return overflow === true || (changes as { path: string }[]).some((change) => change.path === last);
      });
      last = pathToFileURL(arena.fill(EXEC_FILES, storm)).href;
      const { slowestMs, mostBytes } = await observe(
        { pid: server.pid, ask: () => other.call('process/list') },
        () => told() === EXEC_WATCHES,
      );
      judge('watches of an exec server', EXEC_WATCHES, { slowestMs, grownBytes: mostBytes - before });
    }
    watcher.close();
    other.close();
  },
);
