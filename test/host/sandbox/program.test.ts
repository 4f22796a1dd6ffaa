import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { confine, probeSandbox } from '../../../src/host/sandbox/index.js';
import { type Disk, snapshotDisk } from '../../../src/host/sandbox/plan/disk.js';
import { type SandboxPolicy } from '../../../src/policy/internal.js';
import { entry, identities, Place, run, supportFor, workspacePolicy } from './harness.js';

const [identity = { name: 'nobody' }] = identities;

describe('programs that cannot be started', () => {
  const fails = async (argv: string[], cwd: string, policy: SandboxPolicy) => {
    const error: unknown = await run(identity, policy, { argv, cwd }).catch((reason: unknown) => reason);
    const { code, data } = error as { code: string; data: { reason: string } };
    return `${code} ${data.reason}`;
  };

  test('are errors, not exit codes, and leave nothing behind', async () => {
    using place = new Place(identity);
    const { workspace } = place;
    const script = join(workspace, 'script');
    writeFileSync(script, '#!/nowhere/interpreter\n', { mode: 0o755 });
    writeFileSync(join(workspace, 'text'), 'just text\n', { mode: 0o755 });
    writeFileSync(join(workspace, 'data'), 'data', { mode: 0o644 });
    chmodSync(script, 0o755);
    const policy = workspacePolicy(workspace);
    const found = await Promise.all([
      fails(['no-such-program'], workspace, policy),
      fails(['/no/such/program'], workspace, policy),
      fails([''], workspace, policy),
      fails(['./script'], workspace, policy),
      fails(['./text'], workspace, policy),
      fails(['./data'], workspace, policy),
      fails(['/usr'], workspace, policy),
      fails(['true'], '/no/such/directory', policy),
      fails(['true'], script, policy),
    ]);
    expect(found).toEqual([
      'spawnFailed programNotFound',
      'spawnFailed programNotFound',
      'spawnFailed programNotFound',
      'spawnFailed notExecutable',
      'spawnFailed notExecutable',
      'spawnFailed notExecutable',
      'spawnFailed notExecutable',
      'spawnFailed cwdNotFound',
      'spawnFailed cwdNotADirectory',
    ]);
    expect(readdirSync(workspace).sort()).toEqual(['data', 'script', 'text']);
  });

  test('are not found in a directory of their name, and found behind it', async () => {
    using place = new Place(identity);
    const { workspace } = place;
    const shadow = join(workspace, 'shadow');
    mkdirSync(join(shadow, 'true'), { recursive: true });
    const policy = workspacePolicy(workspace);
    const start = (path: string) =>
      run(identity, policy, { argv: ['true'], cwd: workspace, env: { PATH: path } });
    await expect(start(shadow)).rejects.toMatchObject({ data: { reason: 'programNotFound' } });
    expect(await start(`${shadow}:/usr/bin:/bin`)).toMatchObject({ code: 0 });
  });

  test('include those the policy hides', async () => {
    using place = new Place(identity);
    const program = join(place.outside, 'program');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const hidden = workspacePolicy(place.workspace, { entries: [entry(place.outside, 'none')] });
    expect(await fails([program], place.workspace, hidden)).toBe('spawnFailed programNotFound');
    expect(await fails(['true'], place.outside, hidden)).toBe('spawnFailed cwdNotFound');
    expect(
      await run(identity, workspacePolicy(place.workspace), { argv: [program], cwd: '/' }),
    ).toMatchObject({ code: 0 });
  });
});

describe('what cannot be enforced', () => {
  test('is refused with a reason and advice when bubblewrap is missing', async () => {
    const support = await probeSandbox({ bwrap: null });
    expect(support).toMatchObject({ available: false, level: 'none', reason: 'bubblewrapMissing' });
    const spec = { argv: ['true'], cwd: '/', env: {}, terminal: false };
    expect(() => confine(spec, { policy: workspacePolicy('/nowhere'), support })).toThrow(
      expect.objectContaining({
        code: 'sandboxUnavailable',
        data: { reason: 'bubblewrapMissing', hint: expect.stringContaining('bubblewrap') },
      }),
    );
  });

  test('is refused when bubblewrap does not work', async () => {
    using place = new Place(identity);
    const fake = join(place.outside, 'bwrap');
    const options = '--json-status-fd --remount-ro --perms --size --seccomp --cap-drop --args';
    const refusal = 'echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1';
    writeFileSync(fake, `#!/bin/sh\n[ "$1" = --help ] && echo "${options}" && exit 0\n${refusal}\n`, {
      mode: 0o755,
    });
    expect(await probeSandbox({ bwrap: fake })).toMatchObject({ available: false, level: 'none' });
    writeFileSync(fake, '#!/bin/sh\n');
    expect(await probeSandbox({ bwrap: fake })).toMatchObject({ reason: 'bubblewrapTooOld' });
  });

  test('includes a place that was swapped for a link after it was looked at', async () => {
    using place = new Place(identity);
    const support = await supportFor(identity);
    const link = join(place.base, 'link');
    symlinkSync('outside', link);
    const disk = snapshotDisk();
    const before: Disk = {
      ...disk,
      resolve: (path) => (path === link ? { path, kind: 'directory', links: [] } : disk.resolve(path)),
    };
    const spec = { argv: ['true'], cwd: '/', env: {}, terminal: false };
    expect(() => confine(spec, { policy: workspacePolicy(link), support, disk: before })).toThrow(
      expect.objectContaining({
        code: 'sandboxUnavailable',
        data: { reason: 'pathChanged', hint: 'Try again.' },
      }),
    );
    expect(readdirSync(place.outside)).toEqual([]);
  });

  test('does not matter where nothing is to be enforced', async () => {
    const support = await probeSandbox({ bwrap: null });
    const spec = { argv: ['true'], cwd: '/', env: { A: 'b' }, terminal: false, arg0: 'name' };
    const { argv, arg0, env, sandboxType, inheritFds, status } = confine(spec, {
      policy: { kind: 'open' },
      support,
    });
    expect({ argv, arg0, env, sandboxType, inheritFds, status }).toEqual({
      argv: ['true'],
      arg0: 'name',
      env: { A: 'b' },
      sandboxType: 'none',
      inheritFds: [],
      status: null,
    });
  });
});

describe.each(identities)('a limit of processes as $name', (who) => {
  /** Never more than 64 tries: the machine survives even if the limit does not hold. Node's own threads count too. */
  const bomb = [
    "const { spawn } = require('node:child_process');",
    "let failed = '';",
    "const one = () => new Promise((next) => spawn('sleep', ['1000']).on('spawn', next).on('error', (e) => next((failed = e.code))));",
    'let started = 0;',
    '(async () => { for (; started < 64 && !failed; started += 1) await one(); console.log(failed, started < 40); process.exit(); })();',
  ].join('\n');

  test('holds', async () => {
    using place = new Place(who);
    const policy = workspacePolicy(place.workspace, { maxProcesses: 40 });
    const finished = await run(who, policy, { argv: [process.execPath, '-e', bomb], cwd: place.workspace });
    expect(finished).toMatchObject({ code: 0, stdout: 'EAGAIN true\n' });
  });
});
