import { describe, expect, test } from 'vitest';
import { namedSandbox, readOnlySandbox } from '../../src/policy/index.js';

const place = { workspace: '/srv/project' };

describe('a policy by name', () => {
  test('pins the project, whatever directory a command runs in later', () => {
    expect(namedSandbox({ policy: 'workspace-write' }, place)).toMatchObject({
      cwd: 'file:///srv/project',
      workspaceRoots: ['file:///srv/project'],
      permissions: { type: 'managed', network: 'restricted' },
    });
  });

  test('is widened by directories and the network', () => {
    const sandbox = namedSandbox({ policy: 'read-only', writable: ['/srv/out dir'], network: true }, place);
    expect(sandbox?.permissions).toMatchObject({
      network: 'enabled',
      file_system: {
        entries: expect.arrayContaining([
          { path: { type: 'path', path: 'file:///srv/out%20dir' }, access: 'write' },
        ]),
      },
    });
  });

  test('danger-full-access is no sandbox, and cannot be widened', () => {
    expect(namedSandbox({ policy: 'danger-full-access' }, place)).toBeNull();
    expect(() => namedSandbox({ policy: 'danger-full-access', network: true }, place)).toThrow(
      'does not confine anything',
    );
  });

  test('profiles of the configuration go by their names', () => {
    const profiles = { small: { extends: ':workspace', max_processes: 10, protected_names: ['kept'] } };
    expect(namedSandbox({ policy: 'small' }, { ...place, profiles })).toMatchObject({
      maxProcesses: 10,
      protectedNames: ['kept'],
    });
  });

  test.each(['workspace', 'constructor', ''])('an unknown name (%j) lists the known ones', (policy) => {
    expect(() => namedSandbox({ policy }, place)).toThrow('Use read-only, workspace-write');
  });

  test('a relative directory is refused', () => {
    expect(() => namedSandbox({ policy: 'read-only', writable: ['out'] }, place)).toThrow('must be absolute');
  });
});

describe('the read-only form of a sandbox', () => {
  test('keeps what is hidden hidden', () => {
    const profiles = { blind: { extends: ':workspace', filesystem: { '/srv/secret': 'none' } } };
    const wide = namedSandbox({ policy: 'blind', network: true }, { ...place, profiles });
    const narrow = readOnlySandbox(wide);
    expect(JSON.stringify(narrow)).not.toContain('"write"');
    expect(JSON.stringify(narrow)).toContain('{"type":"path","path":"file:///srv/secret"},"access":"none"');
    expect(narrow.permissions).toMatchObject({ network: 'restricted' });
    expect(narrow.workspaceRoots).toEqual(['file:///srv/project']);
  });

  test('reaches no unix socket: what listens there writes for whoever asks', () => {
    const profiles = { docker: { extends: ':workspace', unix_sockets: true } };
    const wide = namedSandbox({ policy: 'docker' }, { ...place, profiles });
    expect(wide).toMatchObject({ unixSockets: 'allowed' });
    expect(readOnlySandbox(wide)).not.toHaveProperty('unixSockets');
  });

  test('of no sandbox at all is the read-only policy', () => {
    expect(readOnlySandbox(null)).toEqual({
      permissions: namedSandbox({ policy: 'read-only' }, { workspace: null })?.permissions,
    });
  });
});
