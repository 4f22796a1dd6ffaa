// Needs: bwrap
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalEnvironment, type ProcessSpec } from '../../src/index.js';
import { TestFolder } from '../harness/processes.js';

/** Blocks names in a shared directory while its commands run, as other sandboxes on the machine do. */
const OTHER_SANDBOX = `
cd "$0" && echo ready
while :; do
  if mkdir .codex; then sleep 0.02; rmdir .codex; sleep 0.01; fi
  if mkdir .agents; then sleep 0.02; rmdir .agents; sleep 0.01; fi
done`;

let folder: TestFolder;
let other: ReturnType<typeof spawn>;
beforeAll(async () => {
  folder = new TestFolder();
  other = spawn('/bin/sh', ['-c', OTHER_SANDBOX, folder.path], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (other.stdout) await once(other.stdout, 'data');
});
afterAll(async () => {
  const exited = once(other, 'exit');
  other.kill();
  await exited;
  folder[Symbol.dispose]();
});

test('names that another sandbox blocks for a moment make no start fail', async () => {
  await using environment = new LocalEnvironment();
  const uri = new URL(`file://${folder.path}`).href;
  const special = (kind: 'root' | 'project_roots', access: 'read' | 'write') =>
    ({ path: { type: 'special', value: { kind } }, access }) as const;
  const sandbox: NonNullable<ProcessSpec['sandbox']> = {
    permissions: {
      type: 'managed',
      network: 'restricted',
      file_system: {
        type: 'restricted',
        entries: [special('root', 'read'), special('project_roots', 'write')],
      },
    },
    cwd: uri,
    workspaceRoots: [uri],
  };
  for (let round = 0; round < 60; round += 1) {
    const { exitCode, stderr } = await environment.run(['true'], { cwd: folder.path, sandbox });
    // A program that already runs when a protected name is replaced is ended, as it should be.
    expect([
      { exitCode: 0, stderr: '' },
      { exitCode: 137, stderr: '' },
    ]).toContainEqual({ exitCode, stderr });
  }
});
