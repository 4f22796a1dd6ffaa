import { describe, expect, test } from 'vitest';
import {
  contextOf,
  type PathRule,
  policyFromPermissions,
  type SandboxPolicy,
} from '../../../src/policy/internal.js';
import { permissionsFromAppPolicy } from '../../../src/policy/index.js';
import { findProfile } from '../../../src/policy/profiles.js';
import {
  AppSandboxPolicy,
  ExecError,
  type PermissionEntry,
  Permissions,
  Sandbox,
} from '../../../src/protocol/index.js';

const context = { cwd: '/ws', workspaceRoots: ['/ws'], temporaryDirectories: ['/var/tmp'] };

/** `read /path` per rule, with a mark on those that count only if the path exists. */
function shown(policy: SandboxPolicy): string[] {
  if (policy.kind === 'open') return ['open'];
  if (policy.files.kind === 'unrestricted') return ['unrestricted'];
  const line = ({ access, path, whenMissing }: PathRule) =>
    `${access} ${path}${whenMissing === 'skip' ? ' ?' : ''}`;
  return policy.files.rules.map(line);
}

const special = (value: object, access = 'read', more = {}): PermissionEntry =>
  ({ path: { type: 'special', value }, access, ...more }) as PermissionEntry;

const restricted = (entries: PermissionEntry[], network: 'restricted' | 'enabled' = 'restricted') =>
  policyFromPermissions({ type: 'managed', file_system: { type: 'restricted', entries }, network }, context);

const protectedIn = (root: string, mark = '') =>
  ['.git', '.codex', '.agents'].map((name) => `read ${root}/${name}${mark}`);

describe('permissions of the wire', () => {
  test('what the real client sends for a writable workspace', () => {
    const policy = restricted([
      special({ kind: 'root' }),
      special({ kind: 'project_roots' }, 'write'),
      special({ kind: 'slash_tmp' }, 'write'),
      special({ kind: 'tmpdir' }, 'write'),
      special({ kind: 'project_roots', subpath: '.git' }, 'read', { missing_path_behavior: 'skip' }),
    ]);
    expect(shown(policy)).toEqual([
      'read /',
      'write /ws',
      'write /tmp',
      'write /var/tmp',
      'read /ws/.git ?',
      ...protectedIn('/ws'),
      ...protectedIn('/tmp', ' ?'),
      ...protectedIn('/var/tmp', ' ?'),
    ]);
  });

  test('nothing to enforce', () => {
    const of = (permissions: Permissions) => policyFromPermissions(permissions, context);
    expect(of({ type: 'disabled' })).toEqual({ kind: 'open' });
    expect(of({ type: 'external', network: 'restricted' })).toEqual({ kind: 'open' });
    expect(of({ type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' })).toEqual({
      kind: 'open',
    });
    expect(
      of({ type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' }),
    ).toMatchObject({
      kind: 'confined',
      network: 'restricted',
    });
  });

  test('special places, and unknown ones that grant nothing', () => {
    expect(shown(restricted([special({ kind: 'minimal' })]))).toContain('read /usr');
    expect(shown(restricted([special({ kind: 'current_working_directory' })]))).toEqual(['read /ws']);
    expect(shown(restricted([special({ kind: 'unknown', path: ':new' }, 'write')]))).toEqual([]);
    expect(shown(restricted([special({ kind: 'project_roots', subpath: 'a/b' }, 'none')]))).toEqual([
      'none /ws/a/b',
    ]);
  });

  test.each(['../x', '/etc', 'a/../../b', 'a\0b'])(
    'a subpath that leaves its root is refused: %j',
    (subpath) => {
      expect(() => restricted([special({ kind: 'project_roots', subpath }, 'write')])).toThrow(
        expect.objectContaining({ code: 'invalidParams' }),
      );
    },
  );

  const wrong = ['http://x/y', '/plain', 'file://other/x', 'file:///a%00b', 'file:///a%2Fb'];
  const ambiguous = ['file:///a?b', 'file:///a#b', 'file:///a\nb', 'file:///a\\b', 'file:///a '];
  test.each([...wrong, ...ambiguous])('a path that is no file URI is refused: %j', (path) => {
    expect(() => restricted([{ path: { type: 'path', path }, access: 'read' }])).toThrow(
      expect.objectContaining({ code: 'invalidParams' }),
    );
  });

  test('a root below a protected name elsewhere keeps its own protection', () => {
    const file = (path: string) =>
      ({ path: { type: 'path', path: `file://${path}` }, access: 'write' }) as const;
    expect(shown(restricted([file('/home/.codex/trees/a')]))).toEqual([
      'write /home/.codex/trees/a',
      ...protectedIn('/home/.codex/trees/a'),
    ]);
    const onPurpose = [file('/a'), file('/a/.git/objects'), file('/b/.codex')];
    expect(shown(restricted(onPurpose)).slice(onPurpose.length)).toEqual(protectedIn('/a'));
  });

  test.each(['', '.', '..', '../x', 'a/b', 'a\0b'])(
    'a protected name that is none is refused: %j',
    (name) => {
      const entries = [special({ kind: 'project_roots' }, 'write')];
      const files = { type: 'restricted', entries } as const;
      expect(() =>
        policyFromPermissions(
          { type: 'managed', file_system: files, network: 'restricted' },
          { ...context, protectedNames: [name] },
        ),
      ).toThrow(expect.objectContaining({ code: 'invalidParams' }));
    },
  );

  test('patterns only take away', () => {
    const pattern = (access: string) =>
      ({ path: { type: 'glob_pattern', pattern: '*.env' }, access }) as PermissionEntry;
    expect(restricted([pattern('deny')])).toMatchObject({
      files: { hidden: [{ pattern: '/ws/*.env', maxDepth: 32 }] },
    });
    const odd = policyFromPermissions(
      {
        type: 'managed',
        file_system: { type: 'restricted', entries: [pattern('deny')] },
        network: 'restricted',
      },
      { ...context, cwd: '/[ws]' },
    );
    expect(odd).toMatchObject({ files: { hidden: [{ pattern: String.raw`/\[ws\]/*.env` }] } });
    expect(() => restricted([pattern('read')])).toThrow(expect.objectContaining({ code: 'invalidParams' }));
  });

  test('the context is taken from the request, then from the process', () => {
    const sandbox: Sandbox = { permissions: { type: 'disabled' } };
    const process = { cwd: '/here', env: { TMPDIR: '/my/tmp/' } };
    expect(contextOf(sandbox, process)).toEqual({
      cwd: '/here',
      workspaceRoots: ['/here'],
      temporaryDirectories: ['/my/tmp'],
    });
    const full = {
      ...sandbox,
      cwd: 'file:///a',
      workspaceRoots: ['file:///b'],
      temporaryDirectories: ['file:///c%20d'],
    };
    expect(contextOf(full, process)).toEqual({
      cwd: '/a',
      workspaceRoots: ['/b'],
      temporaryDirectories: ['/c d'],
    });
    const context = { cwd: 'file:///x', workspaceRoots: ['file:///y'] };
    expect(contextOf({ ...full, policyContext: context }, process)).toMatchObject({
      cwd: '/x',
      workspaceRoots: ['/y'],
    });
    const none = { workspaceRoots: [] };
    expect(contextOf({ ...full, workspaceRoots: [] }, process)).toMatchObject(none);
    expect(contextOf({ ...full, policyContext: {} }, process)).toMatchObject({ cwd: '/a', ...none });
    expect(contextOf({ ...full, policyContext: null }, process)).toMatchObject({ workspaceRoots: ['/b'] });
    for (const userHomeDir of ['relative', 'file://elsewhere/x'])
      expect(() => contextOf({ ...sandbox, userHomeDir }, process)).toThrow(
        expect.objectContaining({ code: 'invalidParams' }),
      );
  });
});

describe('policies of the app server', () => {
  const of = (policy: AppSandboxPolicy) => policyFromPermissions(permissionsFromAppPolicy(policy), context);

  test('resolve to the same model', () => {
    expect(of({ type: 'dangerFullAccess' })).toEqual({ kind: 'open' });
    expect(of({ type: 'externalSandbox', networkAccess: 'enabled' })).toEqual({ kind: 'open' });
    expect(of({ type: 'readOnly' })).toMatchObject({ network: 'restricted' });
    expect(of({ type: 'readOnly', networkAccess: true })).toMatchObject({ network: 'enabled' });
    expect(shown(of({ type: 'readOnly' }))).toEqual(['read /']);
    expect(
      shown(
        of({
          type: 'workspaceWrite',
          writableRoots: ['/x y'],
          excludeSlashTmp: true,
          excludeTmpdirEnvVar: true,
        }),
      ),
    ).toEqual(['read /', 'write /ws', 'write /x y', ...protectedIn('/ws'), ...protectedIn('/x y')]);
  });

  test.each([
    'readOnly',
    { type: 'other' },
    { type: 'externalSandbox', networkAccess: true },
    { type: 'workspaceWrite', writableRoots: ['relative'] },
    { type: 'workspaceWrite', networkAccess: 'enabled' },
    null,
  ])('%j is refused', (input) => {
    expect(AppSandboxPolicy.safeParse(input).success).toBe(false);
  });
});

describe('profiles', () => {
  const tables = {
    build: {
      extends: ':workspace',
      filesystem: {
        '/opt/cache': 'write',
        ':project_roots': { '.': 'write', secrets: 'none' },
        '/srv/**/*.env': 'deny',
      },
      network: { enabled: true },
      unix_sockets: true,
      max_processes: 100,
    },
    tight: { filesystem: { ':minimal': 'read' } },
    circle: { extends: 'circle' },
  };

  test('the built-in ones', () => {
    expect(findProfile(':danger-full-access')).toEqual({ permissions: { type: 'disabled' } });
    expect(shown(policyFromPermissions(findProfile(':read-only').permissions, context))).toEqual(['read /']);
    expect(shown(policyFromPermissions(findProfile(':workspace').permissions, context))).toContain(
      'write /ws',
    );
  });

  test('those of a configuration file', () => {
    const { permissions, ...more } = findProfile('build', tables);
    const policy = policyFromPermissions(permissions, { ...context, ...more });
    expect(policy).toMatchObject({ network: 'enabled', unixSockets: 'allowed', maxProcesses: 100 });
    expect(shown(policy)).toEqual(
      expect.arrayContaining(['read /', 'write /ws', 'none /ws/secrets', 'write /opt/cache', 'write /tmp']),
    );
    expect(policy).toMatchObject({ files: { hidden: [{ pattern: '/srv/**/*.env' }] } });
    expect(shown(policyFromPermissions(findProfile('tight', tables).permissions, context))).not.toContain(
      'read /',
    );
  });

  test('what is wrong with them is said', () => {
    expect(() => findProfile(':other')).toThrow(expect.objectContaining({ code: 'invalidParams' }));
    expect(() => findProfile('__proto__', tables)).toThrow(
      expect.objectContaining({ code: 'invalidParams' }),
    );
    for (const wrong of [
      { x: { filesystem: { relative: 'read' } } },
      { x: { filesytem: {} } },
      { x: { extends: ':danger-full-access' } },
      tables,
    ])
      expect(() => findProfile('x' in wrong ? 'x' : 'circle', wrong)).toThrow(
        expect.objectContaining({ code: 'invalidConfiguration' }),
      );
  });
});

describe('any input', () => {
  /** The same numbers each run: xorshift. */
  function* randomNumbers(seed: number): Generator<number, never> {
    for (let state = seed; ; ) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      yield state >>> 0;
    }
  }
  const numbers = randomNumbers(42);
  const pick = <T>(choices: readonly T[]): T => choices[numbers.next().value % choices.length] as T;
  const words = [
    'managed',
    'restricted',
    'enabled',
    'disabled',
    'path',
    'special',
    'glob_pattern',
    'root',
    'project_roots',
    'read',
    'write',
    'deny',
    'skip',
    'file:///a',
    'file:///../..',
    '../..',
    '**',
    '',
    '\0',
    'é',
  ];
  const names = [
    'type',
    'kind',
    'path',
    'value',
    'access',
    'entries',
    'file_system',
    'network',
    'pattern',
    'subpath',
    'permissions',
    'missing_path_behavior',
    '__proto__',
  ];
  const anything = (depth: number): unknown => {
    const kind = numbers.next().value % (depth > 5 ? 3 : 6);
    if (kind === 0) return pick(words);
    if (kind === 1) return pick([null, true, 0, -1, 1e99, Number.NaN]);
    if (kind === 2) return pick(words);
    if (kind === 3) return Array.from({ length: numbers.next().value % 4 }, () => anything(depth + 1));
    return Object.fromEntries(
      Array.from({ length: 1 + (numbers.next().value % 5) }, () => [pick(names), anything(depth + 1)]),
    );
  };
  /** A valid policy with one value somewhere replaced. */
  const spoiled = (): unknown => {
    const good = {
      type: 'managed',
      network: 'restricted',
      file_system: {
        type: 'restricted',
        entries: [
          special({ kind: 'project_roots', subpath: 'x' }, 'write'),
          { path: { type: 'path', path: 'file:///a' }, access: 'read' },
          { path: { type: 'glob_pattern', pattern: '*' }, access: 'deny' },
        ],
      },
    };
    let countdown = numbers.next().value % 24;
    return JSON.parse(JSON.stringify(good), (_key, value: unknown) =>
      countdown-- === 0 ? anything(4) : value,
    );
  };

  test('is a policy or a clear error', () => {
    const outcome = (input: unknown): string => {
      const parsed = Permissions.safeParse(input);
      if (!parsed.success) return 'refused by the schema';
      try {
        return policyFromPermissions(parsed.data, context).kind;
      } catch (error) {
        return error instanceof ExecError ? error.code : String(error);
      }
    };
    const counts = new Map<string, number>();
    for (let round = 0; round < 4_000; round += 1) {
      const word = outcome(round % 2 ? spoiled() : anything(0));
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['confined', 'invalidParams', 'open', 'refused by the schema']);
    expect(counts.get('confined')).toBeGreaterThan(20);
  });

  test('of the wrong shape is refused by the schema', () => {
    const wrong: unknown[] = [
      {},
      { permissions: 'disabled' },
      { permissions: { type: 'other' } },
      { permissions: { type: 'external' } },
      { permissions: { type: 'managed', network: 'restricted' } },
    ];
    expect(wrong.filter((input) => Sandbox.safeParse(input).success)).toEqual([]);
    expect(Sandbox.safeParse({ permissions: { type: 'disabled', more: 1 }, other: 2 }).success).toBe(true);
  });
});
