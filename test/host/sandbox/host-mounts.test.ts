import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  let shared: MountedPlace;
  // There before the machine is asked what it can do; later mounts below it propagate, as all do under systemd.
  beforeAll(() => {
    shared = new MountedPlace(mkdtempSync(join(tmpdir(), 'execwire-shared-')), 'tmpfs');
    execFileSync('mount', ['--make-shared', shared.path]);
  });
  afterAll(() => {
    shared[Symbol.dispose]();
    rmdirSync(shared.path);
  });

  test('what is mounted while it runs does not reach it', async () => {
    using place = new Place(identity);
    const { workspace } = place;
    const later = join(shared.path, 'later');
    mkdirSync(later);
    const running = await start(identity, workspacePolicy(workspace), {
      argv: [
        'sh',
        '-c',
        'echo ready; until [ -e go ]; do sleep 0.01; done; touch "$0/new" && ls "$0"',
        later,
      ],
      cwd: workspace,
    });
    await running.said('ready');
    using mounted = new MountedPlace(later, 'tmpfs', 'mode=777');
    writeFileSync(join(workspace, 'go'), '');
    expect(await running.done).toMatchObject({ stdout: 'ready\n', code: 1 });
    expect(readdirSync(mounted.path)).toEqual([]);
  });

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
