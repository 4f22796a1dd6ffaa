import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SpoolQuota } from '../../src/tools/index.js';
import { Transcript } from '../../src/tools/session/transcript.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;

/** Bytes that tell their position. */
function patterned(from: number, length: number): Uint8Array {
  const phase = from % PERIOD.length;
  return Buffer.alloc(phase + length, PERIOD).subarray(phase);
}
const PERIOD = Uint8Array.from({ length: 251 }, (_, index) => (index * 31) & 0xff);

async function collect(transcript: Transcript, from: number, to?: number) {
  const found: { lost: number; bytes: number; intact: boolean } = { lost: 0, bytes: 0, intact: true };
  let position = from;
  for await (const piece of transcript.read(from, to)) {
    if (piece.kind === 'lost') {
      found.lost += piece.lostBytes;
      position += piece.lostBytes;
      continue;
    }
    found.intact &&= Buffer.from(piece.bytes).equals(patterned(position, piece.bytes.length));
    found.bytes += piece.bytes.length;
    position += piece.bytes.length;
  }
  return found;
}

async function fill(transcript: Transcript, total: number, piece = 50_000, from = 0): Promise<void> {
  for (let at = 0; at < total; at += piece)
    await transcript.append(patterned(from + at, Math.min(piece, total - at)));
}

describe('transcript', () => {
  test('small outputs never touch the disk', async () => {
    using folder = new TestFolder();
    const transcript = new Transcript({ spoolParent: folder.path });
    await fill(transcript, 200 * KIB, 100);
    expect(readdirSync(folder.path)).toEqual([]);
    expect(await collect(transcript, 1234)).toEqual({ lost: 0, bytes: 200 * KIB - 1234, intact: true });
  });

  test('large ones are readable at every position, and leave no name in the file system', async () => {
    using folder = new TestFolder();
    const transcript = new Transcript({ spoolParent: folder.path });
    const total = 3_000_001;
    await fill(transcript, total);
    for (const from of [0, 1, 262_144, 1_000_000, total - 1, total]) {
      expect(await collect(transcript, from)).toEqual({ lost: 0, bytes: total - from, intact: true });
    }
    expect(await collect(transcript, 5, 900_000)).toEqual({ lost: 0, bytes: 899_995, intact: true });
    expect(readdirSync(folder.path)).toEqual([]);
    await transcript.remove();
    // Gone, and said so: a reader on its way must not take it for an output that never was.
    expect(await collect(transcript, 0)).toMatchObject({ bytes: 0, lost: total });
  });

  test('output that moves to the disk while it is read is not missed', async () => {
    using folder = new TestFolder();
    const transcript = new Transcript({ spoolParent: folder.path });
    const state = { isFull: false };
    const filling = fill(transcript, 8_000_000, 10_000).then(() => {
      state.isFull = true;
    });
    while (!state.isFull) {
      const to = transcript.end;
      const from = Math.max(0, to - 400_000);
      const reads = Array.from({ length: 4 }, (_, index) => collect(transcript, from + index * 90_000, to));
      const bytes = [0, 1, 2, 3].map((index) => Math.max(0, to - from - index * 90_000));
      expect(await Promise.all(reads)).toEqual(bytes.map((each) => ({ lost: 0, bytes: each, intact: true })));
      await nextTurn();
    }
    await filling;
    await transcript.remove();
  });

  test('past its limits it keeps both ends and counts the middle', async () => {
    using folder = new TestFolder();
    const spoolLimits = { headBytes: 500_000, tailBytes: 1_000_000 };
    const transcript = new Transcript({ spoolParent: folder.path, spoolLimits });
    const total = 5_000_000;
    await fill(transcript, total);
    const found = await collect(transcript, 0);
    expect(found.intact).toBe(true);
    expect(found.bytes + found.lost).toBe(total);
    expect(found.lost).toBe(transcript.lostBytes);
    expect(found.bytes).toBeGreaterThanOrEqual(1_500_000);
    expect(await collect(transcript, 0, 500_000)).toEqual({ lost: 0, bytes: 500_000, intact: true });
    expect((await collect(transcript, total - 1_000_000)).lost).toBe(0);
    await transcript.remove();
  });

  test('a spool that cannot be written costs output, not the command', async () => {
    using folder = new TestFolder();
    const transcript = new Transcript({ spoolParent: join(folder.path, 'missing') });
    await fill(transcript, 1_000_000);
    const found = await collect(transcript, 0);
    expect(found.intact).toBe(true);
    expect(found.lost).toBeGreaterThan(0);
    expect(found.bytes + found.lost).toBe(1_000_000);
  });
});

describe('a quota for all transcripts', () => {
  test('finished ones go first, the longest unused of them; then the one that grows stops growing', async () => {
    using folder = new TestFolder();
    const spoolQuota = new SpoolQuota(4_000_000);
    const make = (since: number | null): Transcript =>
      new Transcript({ spoolParent: folder.path, spoolQuota, expendableSince: () => since });
    const [old, older, busy] = [make(2), make(1), make(null)];
    for (const each of [old, older, busy]) await fill(each, 1_300_000);
    const growing = make(null);
    await fill(growing, 1_300_000);
    expect(await collect(older, 0)).toMatchObject({ intact: true, lost: expect.toSatisfy((n) => n > 1e6) });
    expect(await collect(old, 0)).toEqual({ lost: 0, bytes: 1_300_000, intact: true });
    await fill(growing, 6_000_000 - 1_300_000, 50_000, 1_300_000);
    expect((await collect(old, 0)).lost).toBeGreaterThan(1_000_000);
    expect(await collect(busy, 0)).toEqual({ lost: 0, bytes: 1_300_000, intact: true });
    const found = await collect(growing, 0);
    expect(found).toMatchObject({ intact: true, lost: growing.lostBytes });
    expect(found.bytes + found.lost).toBe(6_000_000);
    expect(found.bytes).toBeGreaterThan(2_000_000);
    expect(spoolQuota.usedBytes).toBeLessThanOrEqual(4_000_000);
    for (const each of [old, older, busy, growing]) await each.remove();
    expect(spoolQuota.usedBytes).toBe(0);
  });

  test('leaves everybody a log, and room comes back', async () => {
    const spoolQuota = new SpoolQuota(2_000_000);
    const first = new Transcript({ spoolQuota });
    await fill(first, 3_000_000);
    const second = new Transcript({ spoolQuota });
    await fill(second, 3_000_000);
    const found = await collect(second, 0);
    expect(found).toMatchObject({ intact: true, lost: second.lostBytes });
    expect(found.bytes).toBeGreaterThan(700_000);
    // Too large a piece for what everybody gets.
    const large = new Transcript({ spoolQuota });
    await fill(large, 4_000_000, 2_000_000);
    expect(await collect(large, 0)).toMatchObject({ intact: true, lost: large.lostBytes });
    for (const each of [first, second, large]) await each.remove();
    const third = new Transcript({ spoolQuota });
    await fill(third, 1_900_000);
    expect(third.lostBytes).toBe(0);
    await third.remove();
  });
});
