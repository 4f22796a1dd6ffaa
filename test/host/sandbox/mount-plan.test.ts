import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Mount } from '../../../src/host/sandbox/index.js';
import { type Access } from '../../../src/policy/internal.js';
import { bwrapOptions } from '../../../src/host/sandbox/bwrap/bwrap-argv.js';
import { type Disk } from '../../../src/host/sandbox/plan/disk.js';
import { planMounts } from '../../../src/host/sandbox/plan/mount-plan.js';
import { compileGlob } from '../../../src/host/sandbox/plan/glob.js';

/** A disk of directories, except what ends in `.file`. Links are named with their targets. */
function diskOf(paths: readonly string[], links: Record<string, string> = {}): Disk {
  const present = new Set(['/', ...paths.flatMap((path) => ancestors(path))]);
  return {
    resolve(path) {
      const through = Object.keys(links).find((link) => path === link || path.startsWith(`${link}/`));
      if (through !== undefined) {
        const target = links[through] ?? '';
        const place = this.resolve(
          posix.resolve(posix.dirname(through), target) + path.slice(through.length),
        );
        return { ...place, links: [{ path: through, target }, ...place.links] };
      }
      const kind = path.endsWith('.file') ? 'file' : 'directory';
      return { path, kind: present.has(path) ? kind : 'missing', links: [] };
    },
    isPlaceholder: (path) => path.endsWith('held'),
    gitDirectories: () => [],
    ownPlaces: () => [],
    mounts: () => [],
    hidden: (patterns) =>
      patterns.flatMap(({ pattern }) => paths.filter((path) => compileGlob(pattern).matches(path))),
  };
}

function ancestors(path: string): string[] {
  return path === '/' ? [] : [path, ...ancestors(posix.dirname(path))];
}

/** `access path`, `?` after those that count only if they exist. */
function plan(rules: readonly string[], disk: Disk, hidden: string[] = []) {
  const parsed = rules.map((rule) => {
    const [access, path = '', mark] = rule.split(' ');
    return {
      path,
      access: access as Access,
      whenMissing: mark === '?' ? ('skip' as const) : ('block' as const),
    };
  });
  const patterns = hidden.map((pattern) => ({ pattern, maxDepth: 9 }));
  const { base, mounts, placeholders } = planMounts(
    { kind: 'restricted', rules: parsed, hidden: patterns },
    disk,
  );
  const line = (mount: Mount) => `${mount.kind} ${mount.path}`;
  return { base, mounts: mounts.map(line), placeholders };
}

describe('the plan of mounts', () => {
  const disk = diskOf(['/ws/a/b', '/ws/c.file', '/ws/held', '/tmp/x', '/usr/bin']);

  test('mounts outer places first and what changes nothing not at all', () => {
    expect(
      plan(['write /ws/a/b', 'read /ws/a', 'write /ws', 'read /', 'read /tmp', 'write /gone'], disk),
    ).toEqual({
      base: 'readOnly',
      mounts: ['writable /ws', 'readOnly /ws/a', 'writable /ws/a/b'],
      placeholders: [],
    });
  });

  test('among equals hiding beats writing beats reading', () => {
    expect(
      plan(['read /', 'read /ws', 'write /ws', 'none /ws', 'write /tmp', 'read /tmp'], disk).mounts,
    ).toEqual(['writable /tmp', 'hiddenDirectory /ws']);
  });

  test('blocks what is missing, at its first missing part, and holds what others hold', () => {
    expect(
      plan(['read /', 'write /ws', 'read /ws/x/y', 'read /ws/x/z', 'read /ws/q ?', 'read /ws/held'], disk),
    ).toEqual({
      base: 'readOnly',
      mounts: ['writable /ws', 'readOnly /ws/held', 'readOnly /ws/x'],
      placeholders: ['/ws/x', '/ws/held'],
    });
    expect(plan(['read /', 'read /gone/x', 'none /gone/y'], disk).mounts).toEqual([]);
  });

  test('pins the parents of what is protected', () => {
    expect(plan(['read /', 'write /ws', 'none /ws/a/b', 'read /ws/c.file'], disk).mounts).toEqual([
      'writable /ws',
      'writable /ws/a',
      'readOnly /ws/c.file',
      'hiddenDirectory /ws/a/b',
    ]);
    expect(plan(['write /', 'read /ws/a/b'], disk)).toMatchObject({
      base: 'writable',
      mounts: ['writable /ws', 'writable /ws/a', 'readOnly /ws/a/b'],
    });
  });

  test('leaves the kernel’s own places alone', () => {
    const rules = ['read /', 'write /proc/sys', 'write /sys/fs', 'write /dev', 'read /proc'];
    expect(plan(rules, diskOf(['/proc/sys', '/sys/fs', '/dev'])).mounts).toEqual([]);
  });

  test('follows links, and makes those an empty root needs', () => {
    const linked = diskOf(['/usr/bin', '/real/ws'], { '/bin': 'usr/bin', '/ws': '/real/ws' });
    expect(plan(['read /bin', 'read /usr', 'write /ws'], linked)).toEqual({
      base: 'empty',
      mounts: ['link /bin', 'readOnly /usr', 'link /ws', 'writable /real/ws'],
      placeholders: [],
    });
  });

  test('refuses to protect what passes a link in a writable place', () => {
    const loose = diskOf(['/ws', '/other/kept'], { '/ws/link': '/other' });
    for (const rule of ['read /ws/link', 'none /ws/link/kept'])
      expect(() => plan(['read /', 'write /ws', rule], loose)).toThrow(
        expect.objectContaining({
          code: 'sandboxUnavailable',
          data: expect.objectContaining({ reason: 'protectedLink' }),
        }),
      );
  });

  test('grants nothing through a link in a writable place', () => {
    const loose = diskOf(['/ws', '/other'], { '/ws/link': '/other' });
    expect(plan(['read /', 'write /ws', 'write /ws/link'], loose).mounts).toEqual(['writable /ws']);
  });

  test('hides what patterns find', () => {
    expect(plan(['read /', 'write /ws'], disk, ['/ws/*.file', '/ws/**/b']).mounts).toEqual([
      'writable /ws',
      'writable /ws/a',
      'hiddenFile /ws/c.file',
      'hiddenDirectory /ws/a/b',
    ]);
  });
});

describe('patterns', () => {
  test.each([
    ['/a/*.env', '/a/x.env', true],
    ['/a/*.env', '/a/b/x.env', true],
    ['/a/*.env', '/b/x.env', false],
    ['/a/**/*.env', '/a/x.env', true],
    ['/a/**/**/*.env', '/a/b/c/x.env', true],
    ['/a/**/b/*', '/a/c/b', false],
    ['/a/**', '/a/b/c', true],
    ['/a/**', '/a', false],
    ['/a/?.x', '/a/bb.x', false],
    ['/a/?.x', '/a/😀.x', true],
    ['/a?b', '/a/b', false],
    ['/a/*', '/a/two\nlines', true],
    ['/a/(b)+$', '/a/(b)+$', true],
    ['/a/*.{pem,key}', '/a/x.key', true],
    ['/a/*.{pem,key}', '/a/x.txt', false],
    ['/a/.env{,.{local,test}}', '/a/.env', true],
    ['/a/.env{,.{local,test}}', '/a/.env.test', true],
    ['/a/.env{,.{local,test}}', '/a/.env.', false],
    ['/a/[b-d,x]', '/a/c', true],
    ['/a/[b-d,x]', '/a/e', false],
    ['/a/[!b-d]', '/a/e', true],
    ['/a/[^b-d]', '/a/b', false],
    ['/a/[]x]', '/a/]', true],
    ['/a/[{]', '/a/{', true],
    ['/a/{[,],b}', '/a/,', true],
    [String.raw`/a/\[b\]\*`, '/a/[b]*', true],
    [String.raw`/a/\[b\]\*`, '/a/b', false],
    ['/a/*ab*abc*', '/a/abababc', true],
  ])('%s and %s: %s', (pattern, path, matches) => {
    expect(compileGlob(pattern).matches(path)).toBe(matches);
  });

  test.each(['/a/[b', '/a/{b', '/a/b}', '/a/\\', '/a/{b,{c}', `/${'{a,b}'.repeat(9)}`])(
    'that are none are refused: %s',
    (pattern) => {
      expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: 'invalidParams' }));
    },
  );

  test('take no longer for a hostile name', () => {
    const { matches } = compileGlob('/a/**/*a*a*a*a*a*a*b');
    expect(matches(`/a/${'a'.repeat(4000)}`)).toBe(false);
  });

  test('start where they stop being fixed', () => {
    expect(
      ['/a/b/*.c', '/a/b*/c', '/*', '/a/b', '/a/{b,c}/d', String.raw`/\[a\]/b/*`].map(
        (pattern) => compileGlob(pattern).base,
      ),
    ).toEqual(['/a/b', '/a', '/', '/a', '/a', '/[a]/b']);
  });
});

describe('the options of bubblewrap', () => {
  const request = {
    network: 'restricted' as const,
    cwd: '/ws',
    env: { A: 'b' },
    terminal: false,
    userNamespace: false,
    fds: { seccomp: 4, status: 5 },
  };
  const empty = { placeholders: [], accessAt: () => 'read' as const };

  test('in full, for a writable workspace without network', () => {
    const mounts: Mount[] = [
      { kind: 'writable', path: '/ws' },
      { kind: 'readOnly', path: '/ws/.git' },
      { kind: 'hiddenDirectory', path: '/ws/x', traversable: false },
      { kind: 'hiddenFile', path: '/ws/y' },
    ];
    expect(bwrapOptions({ ...request, plan: { ...empty, base: 'readOnly', mounts } }).join(' ')).toBe(
      [
        '--ro-bind / / --dev /dev --perms 1777 --size 1073741824 --tmpfs /dev/shm',
        '--proc /proc --perms 0555 --tmpfs /proc/1',
        '--bind /ws /ws --ro-bind /ws/.git /ws/.git --perms 0000 --tmpfs /ws/x --ro-bind /dev/null /ws/y',
        '--remount-ro /ws/x --remount-ro /proc/1 --remount-ro /proc --remount-ro /dev',
        '--unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-drop ALL --die-with-parent --new-session',
        '--seccomp 4 --json-status-fd 5 --clearenv --setenv A b --chdir /ws',
      ].join(' '),
    );
  });

  test('differ with the base, the network, the terminal and the rights of root', () => {
    const of = (base: 'unrestricted' | 'writable' | 'empty', more = {}) =>
      bwrapOptions({ ...request, ...more, plan: { ...empty, base, mounts: [] } }).join(' ');
    expect(of('unrestricted')).toMatch(
      /^--dev-bind \/ \/ --proc \/proc .* --remount-ro \/proc --unshare-pid/,
    );
    expect(of('writable')).toMatch(/^--bind \/ \/ --ro-bind \/sys \/sys --dev \/dev/);
    expect(of('empty')).toMatch(/^--dev \/dev .*--remount-ro \/ /);
    expect(of('empty', { network: 'enabled' })).not.toContain('--unshare-net');
    expect(of('empty', { terminal: true })).not.toContain('--new-session');
    expect(of('empty', { userNamespace: true, arg0: 'x' })).toMatch(/--unshare-user .*--argv0 x/);
  });
});
