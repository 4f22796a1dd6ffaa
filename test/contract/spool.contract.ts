import { describe, expect, test } from 'vitest';
import type { ExecProcess } from '../../src/contract/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import type { OpenEnvironment } from './process.contract.js';

/** Numbered lines of 100 bytes. */
const LINES = 60_000;
const PRINT = `awk 'BEGIN { for (i = 100000; i < ${100_000 + LINES}; i++) printf "%06d%093d\\n", i, 0 }'`;

/** Counts the lines of a process as a reader sees them, and what it lost. Reads one event, then waits for `until`. */
async function readSlowly(
  process: ExecProcess,
  until: () => Promise<unknown>,
): Promise<{ lines: number; lost: number; inOrder: boolean }> {
  const seen = { lines: 0, lost: 0, inOrder: true };
  let rest = '';
  let waited = false;
  for await (const event of process.events()) {
    if (event.type === 'gap') seen.lost += event.lostBytes;
    if (event.type !== 'output') continue;
    if (!waited) await until();
    waited = true;
    const parts = (rest + Buffer.from(event.bytes).toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      seen.inOrder &&= line.startsWith(String(100_000 + seen.lines));
      seen.lines += 1;
    }
  }
  return seen;
}

/** What an environment does that can keep output on disk. */
export function spoolContract(name: string, open: OpenEnvironment): void {
  describe(`${name}: spool`, () => {
    test('a program does not wait for a slow reader, who misses nothing', { timeout: 60_000 }, async () => {
      using folder = new TestFolder();
      await using env = await open();
      const process = await env.start({
        argv: sh(`${PRINT}; echo done > '${folder.file('done')}'`),
        retain: 'disk',
        onSlowReader: 'spool',
      });
      const seen = await readSlowly(process, () => folder.appears('done'));
      expect(seen).toEqual({ lines: LINES, lost: 0, inOrder: true });
    });

    test('somebody who reads after the end finds everything', { timeout: 60_000 }, async () => {
      await using env = await open();
      const process = await env.start({ argv: sh(PRINT), retain: 'disk', onSlowReader: 'spool' });
      await process.wait();
      const seen = { bytes: 0, lost: 0, first: '', last: '' };
      for (let afterSeq = 0; ; ) {
        const { chunks, nextSeq } = await process.read({ afterSeq });
        if (chunks.length === 0) break;
        for (const { bytes, lostBytes } of chunks) {
          seen.bytes += bytes.length;
          seen.lost += lostBytes;
        }
        seen.first ||= Buffer.from(chunks[0]?.bytes ?? [])
          .toString()
          .slice(0, 6);
        seen.last = Buffer.from(chunks.at(-1)?.bytes ?? [])
          .toString()
          .slice(-100, -94);
        afterSeq = nextSeq - 1;
      }
      const last = String(99_999 + LINES);
      expect(seen).toEqual({ bytes: LINES * 100, lost: 0, first: '100000', last });
    });
  });
}
