import { readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_WINDOW_BYTES } from '../../src/rpc/line-window.js';
import { thisServer } from '../../src/spool/process-facts.js';
import { Spool } from '../../src/spool/index.js';
import { TestFolder } from '../harness/processes.js';

const CHUNK = Buffer.alloc(64 * 1024, 'x');
const FLOOD_CHUNKS = 1_600;

test('of a flood there is always more on disk than a distant client may not have read', () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  const output = spool.createDurable({
    id: 'x',
    processId: 'p',
    owner: 'o',
    program: 'yes',
    size: null,
    keep: false,
    spills: false,
    startedAtMs: 0,
    server: thisServer(),
    failed: () => expect.unreachable(),
    ended: () => undefined,
  });
  const directory = join(spool.directory, 'x');
  const bytesOnDisk = (): number =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.data'))
      .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  let least = Number.POSITIVE_INFINITY;
  for (let seq = 1; seq <= FLOOD_CHUNKS; seq += 1) {
    const { fd = -1, position = 0 } = output.next('stdout') ?? {};
    if ((seq - 1) * CHUNK.length >= MAX_WINDOW_BYTES) least = Math.min(least, bytesOnDisk());
    writeSync(fd, CHUNK, 0, CHUNK.length, position);
    output.append({
      stream: 'stdout',
      seq,
      offset: (seq - 1) * CHUNK.length,
      timeMs: 0,
      bytes: CHUNK,
    });
  }
  output.discard();
  expect(least).toBeGreaterThanOrEqual(MAX_WINDOW_BYTES);
});
