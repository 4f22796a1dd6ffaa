import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ProcessTable } from '../../src/host/index.js';
import { writableWorkspace } from '../../testkit/sandboxes.mjs';
import { Place } from './sandbox/harness.js';

const ROUNDS = 24;
/** Longer than a sandbox takes to be made. */
const LONGEST_MS = 60;

const SLEEP = { argv: ['/bin/sleep', '1000'], cwd: '/', env: {}, stdin: 'null', terminal: null } as const;

test('a table that is closed leaves no names on disk, whenever that is', async () => {
  const left: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    using place = new Place({ name: 'whoever we are' });
    const table = new ProcessTable();
    const sandbox = writableWorkspace(place.workspace);
    const starts = [
      table.startConfined(SLEEP, sandbox),
      table.startConfined(SLEEP, { ...sandbox, maxProcesses: 20 }),
    ];
    // In the middle of making them, and after.
    const afterMs = (LONGEST_MS * round) / ROUNDS;
    await new Promise((resolve) => {
      setTimeout(resolve, afterMs);
    });
    if (round % 4 === 0) await Promise.allSettled(starts);
    await table.close();
    const names = readdirSync(place.workspace);
    if (names.length > 0) left.push({ afterMs, names });
    await Promise.allSettled(starts);
  }
  expect(left).toEqual([]);
});
