import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskOfNow, planMounts } from '../../../src/host/sandbox/index.js';
import { withoutKernelMounts } from '../../../src/host/sandbox/mount-table.js';
import { type Identity, identities, Place, run, start, workspacePolicy } from './harness.js';

/** Only root can mount something for a test. */
const mounters: readonly Identity[] = process.getuid?.() === 0 ? identities : [];

/** Something mounted for the time of a test. */
class MountedPlace implements Disposable {
  readonly path: string;

  constructor(path: string, type: string, options = 'defaults') {
    this.path = path;
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', type, '-o', options, 'test', path]);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['--recursive', '--lazy', this.path]);
  }
}

test('the kernel’s own places stay as they are', () => {
  const { files } = workspacePolicy('/nowhere') as Extract<
    ReturnType<typeof workspacePolicy>,
    { kind: 'confined' }
  >;
  const { mounts } = withoutKernelMounts(planMounts(files, diskOfNow()));
  const hidden = mounts.filter(({ kind }) => kind === 'hiddenDirectory').map(({ path }) => path);
  expect(hidden.filter((path) => /^\/(proc|sys|dev)(\/|$)/.test(path))).toEqual([]);
});

describe.each(mounters)('mounts of the host, seen as $name', (identity) => {
  test('a second /proc leads neither into another sandbox nor to the switches of the kernel', async () => {
    using place = new Place(identity);
    const { workspace, outside } = place;
    using proc = new MountedPlace(join(workspace, 'tree', 'a proc'), 'proc');
    const other = await start(identity, workspacePolicy(outside), {
      argv: ['sh', '-c', 'echo ready; until [ -e go ]; do sleep 0.01; done'],
      cwd: outside,
    });
    await other.said('ready');
    const script = `cd "$0"; for pid in [0-9]*; do echo x > "$pid/root${outside}/new"; done; : >> sys/kernel/core_pattern && echo open`;
    const { stdout } = await run(identity, workspacePolicy(workspace), {
      argv: ['sh', '-c', script, proc.path],
      cwd: workspace,
    });
    writeFileSync(join(outside, 'go'), '');
    await other.done;
    expect(stdout).toBe('');
    expect(readdirSync(outside)).toEqual(['go']);
  });
});
