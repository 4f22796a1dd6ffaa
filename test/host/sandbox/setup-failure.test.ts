import { describe, expect, test } from 'vitest';
import { policyOfRequest } from '../../../src/host/sandbox/index.js';
import { explainSetupFailure } from '../../../src/host/sandbox/launch/setup-failure.js';
import type { Sandbox } from '../../../src/protocol/index.js';

describe('a sandbox that ended before its program ran', () => {
  const start = { name: 'tool', program: '/no/such/tool', cwd: '/no/such/work' };
  const explain = (said: string, changes: Partial<typeof start> = {}) => {
    const { code, data, message } = explainSetupFailure(said, { ...start, ...changes });
    return { code, reason: data.reason, message };
  };

  test.each([
    ['execvp tool: No such file or directory', 'programNotFound'],
    ['execvp tool: Permission denied', 'permissionDenied'],
    ['execvp tool: Exec format error', 'notExecutable'],
    ['execvp tool: Argument list too long', 'invalidArgument'],
    ['execvp tool: Input/output error', 'systemError'],
    ['/proc/self/fd/6: 9: exec: tool: not found', 'programNotFound'],
    ['/proc/self/fd/6: 9: exec: a\ntool: not found', 'programNotFound'],
    ['/proc/self/fd/6: 9: exec: tool: Permission denied', 'permissionDenied'],
    ['/proc/self/fd/6: 9: exec: tool: Exec format error', 'notExecutable'],
    ["/proc/self/fd/6: 1: cd: can't cd to /work", 'cwdNotFound'],
    ["Can't chdir to /work: No such file or directory", 'cwdNotFound'],
    ["Can't chdir to /work: Permission denied", 'permissionDenied'],
    ["Can't fork for pid 1: Resource temporarily unavailable", 'resourceLimit'],
  ])('%s: spawnFailed, %s', (said, reason) => {
    const speaker = said.startsWith('/proc') ? '' : 'bwrap: ';
    expect(explain(`${speaker}${said}\n`)).toMatchObject({ code: 'spawnFailed', reason });
  });

  test('a program that is there lacks its interpreter', () => {
    const said = 'bwrap: execvp tool: No such file or directory\n';
    expect(explain(said, { program: process.execPath })).toMatchObject({ reason: 'notExecutable' });
  });

  test('a directory that is there may not be entered, whether or not a shell says so', () => {
    const said = "/proc/self/fd/6: 1: cd: can't cd to /work\n";
    expect(explain(said, { cwd: '/' })).toMatchObject({ reason: 'permissionDenied' });
  });

  test.each([
    ["Can't bind mount /oldroot/a on /newroot/a: No such device", 'setupFailed'],
    ['', 'setupFailed'],
    [
      'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      'namespacesExhausted',
    ],
  ])('%s: sandboxUnavailable, %s', (said, reason) => {
    expect(explain(`bwrap: ${said}\n`)).toMatchObject({ code: 'sandboxUnavailable', reason });
  });

  test('names paths as the caller knows them, and only the last words', () => {
    const said = "earlier words\nbwrap: Can't bind mount /oldroot/a on /newroot/b: No such device\n";
    expect(explain(said).message).toBe(
      "The sandbox could not be set up: Can't bind mount /a on /b: No such device.",
    );
  });
});

describe('the policy of a request', () => {
  const sandbox: Sandbox = {
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [{ path: { type: 'special', value: { kind: 'tmpdir' } }, access: 'write' }],
      },
      network: 'restricted',
    },
  };

  test('is remembered, and another for every difference', () => {
    const first = policyOfRequest(sandbox, { cwd: '/a', temporary: '/t' });
    expect(policyOfRequest(structuredClone(sandbox), { cwd: '/a', temporary: '/t' })).toBe(first);
    const other = policyOfRequest(sandbox, { cwd: '/a', temporary: '/u' });
    expect(other).not.toEqual(first);
    expect(policyOfRequest({ ...sandbox, unixSockets: 'allowed' }, { cwd: '/a', temporary: '/t' })).toEqual({
      ...first,
      unixSockets: 'allowed',
    });
  });

  test('is forgotten when many others were asked for', () => {
    const first = policyOfRequest(sandbox, { cwd: '/a', temporary: '/t' });
    for (let number = 0; number < 100; number += 1)
      policyOfRequest(sandbox, { cwd: `/${number}`, temporary: '/t' });
    const again = policyOfRequest(sandbox, { cwd: '/a', temporary: '/t' });
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});
