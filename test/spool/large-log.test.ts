import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { Spool } from '../../src/spool/index.js';
import { TestFolder } from '../harness/processes.js';

const TOTAL = 1_000_000_000;
const PIECE = 65_536;

test('a log of 1 GB is read back byte for byte', { timeout: 300_000 }, () => {
  using folder = new TestFolder();
  const spool = new Spool({
    directory: folder.file('spool'),
    processBytes: 2 * TOTAL,
    totalBytes: 4 * TOTAL,
  });
  const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
  const log = new ProcessLog({ archive });
  const written = createHash('sha1');
  const pieces = Array.from({ length: 61 }, (_, seed) =>
    Buffer.from(Uint8Array.from({ length: PIECE }, (__, index) => (index * (seed + 1)) >>> 3)),
  );
  for (let at = 0, each = 0; at < TOTAL; at += PIECE, each += 1) {
    const piece = (pieces[each % pieces.length] as Buffer).subarray(0, Math.min(PIECE, TOTAL - at));
    written.update(piece);
    log.appendOutput('stdout', piece);
  }
  const read = createHash('sha1');
  let bytes = 0;
  for (let event = log.next(0); event?.type === 'output'; event = log.next(event.seq)) {
    read.update(event.bytes);
    bytes += event.bytes.length;
  }
  expect(bytes).toBe(TOTAL);
  expect(read.digest('hex')).toBe(written.digest('hex'));
  spool.close();
});
