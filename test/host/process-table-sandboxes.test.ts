import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ProcessTable } from '../../src/host/index.js';
import type { Sandbox } from '../../src/protocol/index.js';
import { Place } from './sandbox/harness.js';

const ROUNDS = 24;
/** Longer than a sandbox takes to be made. */
const LONGEST_MS = 60;

const SLEEP = { argv: ['/bin/sleep', '1000'], cwd: '/', env: {}, stdin: 'null', terminal: null } as const;

/** The workspace may be written, and three names in it are kept free. */
function sandboxFor(workspace: string): Sandbox {
  const uri = pathToFileURL(workspace).href;
  return {
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
          { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' },
        ],
      },
      network: 'restricted',
    },
    cwd: uri,
    workspaceRoots: [uri],
  };
}

test('a table that is closed leaves no names on disk, whenever that is', async () => {
  const left: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    using place = new Place({ name: 'whoever we are' });
    const table = new ProcessTable();
    const sandbox = sandboxFor(place.workspace);
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
