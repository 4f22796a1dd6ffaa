import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import type { Sandbox } from '../../src/protocol/index.js';
import { readOnlyExcept } from '../../testkit/sandboxes.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const unrestricted: Sandbox = {
  permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
  workspaceRoots: [],
};

test.each(['writable', 'unrestricted'] as const)(
  'a program in a %s sandbox sees nothing of the spool',
  async (kind) => {
    using folder = new TestFolder();
    const directory = folder.file('spool');
    await using env = new LocalEnvironment({ spool: { directory } });
    const sandbox =
      kind === 'unrestricted'
        ? unrestricted
        : { permissions: readOnlyExcept(folder.path), workspaceRoots: [] };
    const look = `ls -A '${directory}'; touch '${directory}/planted'; cat '${directory}'/*/* 2>&1`;
    // It exists before the first sandbox, even if nobody has used it yet.
    const early = await env.start({ argv: sh(`echo go; read -r line; ${look}`), pipeStdin: true, sandbox });
    await (await env.start({ argv: sh('echo private words'), retain: 'disk' })).wait();
    await expect.poll(() => readdirSync(directory).length).toBe(1);
    await early.write('now\n');
    const late = await env.start({ argv: sh(look), sandbox });
    for (const process of [early, late]) expect(await process.text()).not.toContain('private words');
    expect(readdirSync(directory)).toHaveLength(1);
  },
);
