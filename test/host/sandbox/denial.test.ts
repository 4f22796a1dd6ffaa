import { describe, expect, test } from 'vitest';
import { policyFromPermissions } from '../../../src/policy/internal.js';
import { wasDenied } from '../../../src/host/sandbox/launch/denial.js';
import { explainFailure } from '../../../src/host/sandbox/probe/probe-failure.js';
import { entry, identities, Place, rootReadable, run, workspacePolicy } from './harness.js';

const [identity = { name: 'nobody' }] = identities;

describe('whether the sandbox made a program fail', () => {
  const policy = workspacePolicy('/ws');
  const denied = (exitCode: number, outputTail: string, writable: readonly string[] = []) =>
    wasDenied(policy, { exitCode, cwd: '/ws', outputTail }, (path) => writable.includes(path));

  test('a program that succeeded was not', () => {
    expect(denied(0, "touch: cannot touch '/etc/x': Read-only file system")).toBe(false);
  });

  test('a read-only file system is the sandbox, where the policy says so', () => {
    expect(denied(1, "touch: cannot touch '/etc/x': Read-only file system\n")).toBe(true);
    expect(denied(1, "Error: EROFS: read-only file system, open '/etc/x'")).toBe(true);
    expect(denied(1, "touch: cannot touch '/ws/mounted-cd/x': Read-only file system\n")).toBe(false);
    expect(denied(1, "touch: cannot touch '../x': Read-only file system\n")).toBe(true);
  });

  test('a denied permission is the sandbox only if there is one without it', () => {
    const line = 'sh: 1: cannot create /outside/x: Permission denied\n';
    expect(denied(2, line)).toBe(false);
    expect(denied(2, line, ['/outside/x'])).toBe(true);
    expect(denied(2, 'sh: 1: cannot create /ws/x: Permission denied\n', ['/ws/x'])).toBe(false);
  });

  test('a long line is not looked through for all it might name', () => {
    const asked: string[] = [];
    const outputTail = `${'/etc/a '.repeat(1000)}/outside/x: Permission denied\n`;
    const isWritable = (path: string) => asked.push(path) < 0 || path === '/outside/x';
    expect(wasDenied(policy, { exitCode: 1, cwd: '/ws', outputTail }, isWritable)).toBe(true);
    expect(asked.length).toBeLessThan(200);
  });

  test('sockets and names of other machines', () => {
    expect(denied(1, 'socket: Operation not permitted\n')).toBe(true);
    expect(denied(6, 'curl: (6) Could not resolve host: example.com\n')).toBe(true);
    expect(
      wasDenied(workspacePolicy('/ws', { network: 'enabled' }), {
        exitCode: 6,
        cwd: '/',
        outputTail: 'Could not resolve host',
      }),
    ).toBe(false);
  });

  test('the filter’s own kill, and no sandbox at all', () => {
    expect(denied(159, '')).toBe(true);
    expect(denied(1, 'make: *** [all] Error 1')).toBe(false);
    expect(wasDenied({ kind: 'open' }, { exitCode: 1, cwd: '/', outputTail: 'Read-only file system' })).toBe(
      false,
    );
  });

  test('decided from a real program', async () => {
    using place = new Place(identity);
    const real = policyFromPermissions(
      {
        type: 'managed',
        file_system: { type: 'restricted', entries: [rootReadable, entry(place.workspace, 'write')] },
        network: 'restricted',
      },
      { cwd: place.workspace, workspaceRoots: [], temporaryDirectories: [] },
    );
    const judged = async (script: string) => {
      const { code, stderr } = await run(identity, real, {
        argv: ['sh', '-c', script],
        cwd: place.workspace,
      });
      return wasDenied(real, { exitCode: code ?? 0, cwd: place.workspace, outputTail: stderr });
    };
    expect(await judged('touch ../outside/x')).toBe(true);
    expect(await judged('cat no-such-file')).toBe(false);
    expect(await judged('touch x')).toBe(false);
  });
});

describe('advice when bubblewrap fails', () => {
  const namespace = 'bwrap: Creating new namespace failed: Operation not permitted';
  test.each([
    [namespace, { 'kernel/apparmor_restrict_unprivileged_userns': '1' }, 'appArmor'],
    [
      'bwrap: setting up uid map: Permission denied',
      { 'kernel/apparmor_restrict_unprivileged_userns': '1' },
      'appArmor',
    ],
    [namespace, { 'kernel/unprivileged_userns_clone': '0' }, 'userNamespacesOff'],
    [namespace, { 'user/max_user_namespaces': '0' }, 'userNamespacesOff'],
    [namespace, {}, 'namespacesForbidden'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, 'procForbidden'],
    ['bwrap: something else', {}, 'bubblewrapFailed'],
  ])('%s with %j: %s', (said, switches: Record<string, string>, reason) => {
    const found = explainFailure(said, (name) => switches[name] ?? null);
    expect(found.reason).toBe(reason);
    expect(found.hint).not.toBe('');
  });
});
