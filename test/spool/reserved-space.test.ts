import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reserveSpace } from '../../src/host/index.js';
import { Spool, SpoolQuota } from '../../src/spool/index.js';
import { NamedSegmentFiles } from '../../src/spool/named-segment-files.js';
import { thisServer } from '../../src/spool/process-facts.js';
import type { ReserveSpace } from '../../src/spool/reserved-space.js';
import { bytesAt } from '../../src/spool/segment-lines.js';
import { SegmentStore } from '../../src/spool/segment-store.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, 'the same line again\n');

/** Some file systems cannot, and neither can systems without glibc. */
function canReserve(): boolean {
  using folder = new TestFolder();
  const file = openSync(folder.file('probe'), 'w');
  try {
    return reserveSpace(file, 0, MIB) && statSync(folder.file('probe')).blocks * 512 >= MIB;
  } finally {
    closeSync(file);
  }
}

/** Writes to a store, and returns what it is. */
function open(folder: TestFolder, reserve: ReserveSpace, segmentBytes = 16 * MIB) {
  const owner = { expendableSince: () => null, dropSpool: () => undefined };
  const limits = { limitBytes: 64 * MIB, segmentBytes };
  const files = new NamedSegmentFiles(folder.path);
  const store = new SegmentStore({ files, owner, quota: new SpoolQuota(), ...limits, reserve });
  let written = 0;
  const write = (bytes: Uint8Array): void => {
    const place = { kind: 'stdout', seq: written + 1, offset: written, timeMs: 0 } as const;
    store.write([{ ...place, length: bytes.length, bytes }]);
    written += bytes.length;
  };
  return { store, write };
}

/** Of the data, and on disk. */
function sizes(directory: string): { data: number; disk: number } {
  const stats = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.data'))
    .map((name) => statSync(join(directory, name)));
  const data = stats.reduce((sum, { size }) => sum + size, 0);
  return { data, disk: stats.reduce((sum, { blocks }) => sum + blocks * 512, 0) };
}

function reserveBehind(directory: string): void {
  const [name = ''] = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('.data'),
  );
  const file = openSync(join(directory, name), 'a');
  expect(reserveSpace(file, statSync(join(directory, name)).size, 4 * MIB)).toBe(true);
  closeSync(file);
}

describe('space ahead of a flood', () => {
  test.runIf(canReserve())('is taken while it lasts, and given back when the files are closed', () => {
    using folder = new TestFolder();
    const { store, write } = open(folder, reserveSpace);
    for (let count = 0; count < 10; count += 1) write(CHUNK);
    const flooding = sizes(folder.path);
    expect(flooding.data).toBe(10 * CHUNK.length);
    expect(flooding.disk).toBeGreaterThan(flooding.data + MIB);
    store.rest();
    const { data, disk } = sizes(folder.path);
    expect(data).toBe(10 * CHUNK.length);
    expect(disk).toBeLessThan(data + 128 * 1024);
    const last = bytesAt(store.reader, 9 * CHUNK.length, CHUNK.length)?.bytes ?? new Uint8Array();
    expect(CHUNK.equals(last)).toBe(true);
    store.rest();
  });

  test.runIf(canReserve())('is given back by full segments', () => {
    using folder = new TestFolder();
    const { store, write } = open(folder, reserveSpace, 3 * MIB);
    for (let count = 0; count < 4 * 40; count += 1) write(CHUNK);
    const { data, disk } = sizes(folder.path);
    expect(data).toBe(40 * MIB);
    // One is open, with 4 MiB ahead at most.
    expect(disk).toBeLessThan(data + 5 * MIB);
    store.rest();
  });

  test('is not taken for a program that prints a little now and then', () => {
    using folder = new TestFolder();
    const asked: number[] = [];
    const { store, write } = open(folder, (_, from) => asked.push(from) > 0);
    for (let count = 0; count < 100; count += 1) {
      write(CHUNK.subarray(0, 100_000));
      store.rest();
    }
    expect(asked).toEqual([]);
  });

  test('is asked for once where it cannot be had, and output is written all the same', () => {
    using folder = new TestFolder();
    let asked = 0;
    const { store, write } = open(folder, () => {
      asked += 1;
      return false;
    });
    for (let count = 0; count < 20; count += 1) write(CHUNK);
    expect(asked).toBe(1);
    expect(store.keptBytes).toBe(20 * CHUNK.length);
    store.rest();
  });

  test.runIf(canReserve())('does not stay taken when a server is killed', { timeout: 60_000 }, async () => {
    using folder = new TestFolder();
    const directory = folder.file('spool');
    const server = await ServerProcess.start({ args: ['--spool', directory] });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const use = { retain: 'disk', onSlowReader: 'spool' };
    await client.call('process/start', { ...startParams('p', sh('yes; true')), ...use });
    await client.until(() => (client.output('p').length > MIB ? true : undefined));
    await server.stop('SIGKILL');
    socket.terminate();
    // A moment earlier there may have been this much: how much there is depends on when it was killed.
    reserveBehind(directory);
    const left = sizes(directory);
    expect(left.disk).toBeGreaterThan(left.data + 128 * 1024);
    await new Spool({ directory }).list();
    const { data, disk } = sizes(directory);
    expect(data).toBe(left.data);
    expect(disk).toBeLessThan(data + 128 * 1024);
  });
});

describe('space ahead of output that outlives its server', () => {
  /** Output that the kernel writes to its place. */
  function durable(folder: TestFolder) {
    const output = new Spool({ directory: folder.file('spool') }, reserveSpace).createDurable({
      id: 'x',
      processId: 'p',
      owner: 'o',
      program: 'yes',
      size: null,
      keep: true,
      spills: false,
      startedAtMs: 0,
      server: thisServer(),
      failed: () => undefined,
      ended: () => undefined,
    });
    let seq = 0;
    const place = (bytes: Uint8Array): void => {
      const { fd, position } = output.next('stdout') ?? { fd: -1, position: 0 };
      expect(writeSync(fd, bytes, 0, bytes.length, position)).toBe(bytes.length);
    };
    const print = (bytes: Uint8Array): void => {
      place(bytes);
      output.append({ stream: 'stdout', seq: seq + 1, offset: output.counted.offset, timeMs: 0, bytes });
      seq += 1;
    };
    return { output, place, print };
  }

  test.runIf(canReserve())('is taken while it lasts, and given back when the files are closed', () => {
    using folder = new TestFolder();
    const { output, print } = durable(folder);
    const chunk = CHUNK.subarray(0, 64 * 1024);
    for (let count = 0; count < 40; count += 1) print(chunk);
    const flooding = sizes(folder.path);
    expect(flooding.data).toBe(40 * chunk.length);
    expect(flooding.disk).toBeGreaterThan(flooding.data + MIB);
    output.close();
    const { data, disk } = sizes(folder.path);
    expect(data).toBe(flooding.data);
    expect(disk).toBeLessThan(data + 128 * 1024);
  });

  test.runIf(canReserve())('is given back up to output that has no entry yet', () => {
    using folder = new TestFolder();
    const { output, place, print } = durable(folder);
    const chunk = CHUNK.subarray(0, 64 * 1024);
    for (let count = 0; count < 40; count += 1) print(chunk);
    place(chunk);
    output.close();
    expect(sizes(folder.path).data).toBe(41 * chunk.length);
  });
});
