import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { LeaseGuard, treeOf } from '../../src/fleet/jobs/lease-guard.js';
import { LocalEnvironment } from '../../src/index.js';
import { TestFolder } from '../harness/processes.js';

test('a program whose lease has run out is killed with all it has started, others are not', async () => {
  await using machine = new LocalEnvironment();
  const guard = new LeaseGuard(200);
  try {
    const script = 'setsid sleep 987 & echo $$; wait';
    const [over, other] = await Promise.all([
      machine.start({ argv: ['sh', '-c', script] }),
      machine.start({ argv: ['sh', '-c', script] }),
    ]);
    const pids = await Promise.all(
      [over, other].map(async (child) => {
        for await (const line of child.lines()) return Number(line);
        return 0;
      }),
    );
    const [tree = '', otherTree = ''] = pids.map((pid) => treeOf(pid) ?? '');
    expect(new Set([tree, otherTree, '']).size).toBe(3);
    guard.set(otherTree, 3_600_000);
    guard.set(tree, 0);
    expect(await over.wait()).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' });
    expect(treeOf(pids[1] ?? 0)).toBe(otherTree);
  } finally {
    guard.close();
  }
});

test('there is no file through which a confined program could tell the guard whom to kill', () => {
  using folder = new TestFolder();
  vi.stubEnv('TMPDIR', folder.path);
  const guard = new LeaseGuard(60_000);
  guard.set('8000000000000000001', 60_000);
  expect(readdirSync(folder.path)).toEqual([]);
  guard.close();
  // Whoever has not noticed the end yet must not write to what has that number now.
  guard.set('8000000000000000002', 60_000);
  vi.unstubAllEnvs();
});

test('the guard ends with its server', async () => {
  const script = `import('${new URL('../../dist/fleet/jobs/lease-guard.js', import.meta.url).href}').then(({ LeaseGuard }) => {
    new LeaseGuard(200);
    console.log('up');
  });`;
  const server = spawn(process.execPath, ['-e', `${script} setInterval(() => {}, 1e6)`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const guards = (): string[] =>
    readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === String(server.pid));
  const [guard = ''] = guards();
  expect(guard).not.toBe('');
  server.kill('SIGKILL');
  await expect.poll(() => parentOf(guard) === undefined, { timeout: 20_000 }).toBe(true);
});

function parentOf(pid: string): string | undefined {
  try {
    return /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
