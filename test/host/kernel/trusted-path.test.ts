import { chmodSync, chownSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TrustedPath } from '../../../src/host/kernel/trusted-path.js';
import { hasOwnPlace, ownPlace } from '../../harness/own-place.js';
import { Place } from '../sandbox/harness.js';

const identity = { name: 'whoever runs the tests' };
const uid = process.geteuid?.() ?? 0;
const isRoot = uid === 0;

/** No system has it. */
const rare = 'rg';

/** Puts a program there and says where. */
function program(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  return path;
}

/** Which of these the search in a PATH finds. */
function found(directories: readonly string[], options: { cwd?: string; uid?: number } = {}): string[] {
  const all = new TrustedPath({ path: directories.join(':'), cwd: '/', ...options }).findAll(rare);
  return all.filter((path) => directories.some((directory) => path.startsWith(dirname(directory))));
}

describe('a helper of the server', () => {
  test('is that of the system, whatever the PATH says', () => {
    using place = ownPlace(identity);
    program(join(place.base, 'tools/dash'));
    const [first] = new TrustedPath({ path: join(place.base, 'tools'), cwd: '/' }).findAll('dash');
    expect(first).toMatch(/^\/(usr\/)?bin\/dash$/);
  });

  test('may come from the PATH, where only root and we can write', ({ skip }) => {
    skip(!hasOwnPlace, 'the home is below a directory of everybody');
    using place = ownPlace(identity);
    const path = program(join(place.base, 'tools', rare));
    symlinkSync('tools', join(place.base, 'link'));
    expect(found([join(place.base, 'tools')])).toEqual([path]);
    // Where it really is, once.
    expect(found([join(place.base, 'link'), join(place.base, 'tools')])).toEqual([path]);
    expect(found([join(place.base, 'tools')], { uid: uid + 1 })).toEqual(isRoot ? [path] : []);
  });

  test.each([
    ['its directory', 'tools', 0o777],
    ['a directory above', '.', 0o777],
    ['the group of its directory', 'tools', 0o775],
    ['the program itself', `tools/${rare}`, 0o777],
  ])('is none that others can change: %s', (_what, which, mode) => {
    using place = ownPlace(identity);
    program(join(place.base, 'tools', rare));
    chmodSync(join(place.base, which), mode);
    expect(found([join(place.base, 'tools')])).toEqual([]);
  });

  test('is none in a temporary directory, which is everybody’s', () => {
    using place = new Place(identity);
    program(join(place.base, 'tools', rare));
    expect(found([join(place.base, 'tools')])).toEqual([]);
  });

  test.runIf(isRoot)('is none of another user', () => {
    using place = ownPlace(identity);
    chownSync(program(join(place.base, 'tools', rare)), 54_321, 54_321);
    expect(found([join(place.base, 'tools')])).toEqual([]);
    expect(found([join(place.base, 'tools')], { uid: 54_321 })).toHaveLength(1);
  });

  test('is none of a project: of npm, of a Python environment, below where the server was started', () => {
    using place = ownPlace(identity);
    const { base } = place;
    program(join(base, 'node_modules/.bin', rare));
    program(join(base, 'venv/bin', rare));
    writeFileSync(join(base, 'venv/pyvenv.cfg'), '');
    program(join(base, 'project/tools', rare));
    const directories = ['node_modules/.bin', 'node_modules//.bin/', 'venv/bin', 'project/tools'];
    expect(
      found(
        directories.map((directory) => join(base, directory)),
        { cwd: join(base, 'project') },
      ),
    ).toEqual([]);
    expect(new TrustedPath({ path: '.::bin', cwd: base }).findAll(rare)).toEqual(
      new TrustedPath({ path: '', cwd: base }).findAll(rare),
    );
  });
});

describe('a helper that a policy lets programs change', () => {
  const writableBelow = (place: string) => (path: string) =>
    path === place || path.startsWith(`${place}/`) ? ('write' as const) : ('read' as const);

  test('is not trusted again, and the next one is', ({ skip }) => {
    skip(!hasOwnPlace, 'the home is below a directory of everybody');
    using place = ownPlace(identity);
    const [one, two] = ['one', 'two'].map((name) => join(place.base, name, 'bwrap'));
    for (const path of [one ?? '', two ?? '']) program(path);
    const trusted = new TrustedPath({ path: `${place.base}/one:${place.base}/two`, cwd: '/' });
    const mine = () => trusted.findAll('bwrap').filter((path) => path.startsWith(place.base));
    expect(mine()).toEqual([one, two]);
    trusted.distrust(writableBelow(place.outside));
    expect(trusted.hasLost('bwrap')).toBe(false);
    trusted.distrust(writableBelow(join(place.base, 'one')));
    expect(mine()).toEqual([two]);
    trusted.distrust(writableBelow(place.outside));
    expect(mine()).toEqual([two]);
    trusted.distrust(writableBelow(two ?? ''));
    expect(mine()).toEqual([]);
    expect(trusted.hasLost('bwrap')).toBe(true);
  });

  test('stays if it is the system’s own: whoever may change that may change everything', () => {
    const trusted = new TrustedPath({ path: '', cwd: '/' });
    trusted.distrust(writableBelow('/usr'));
    expect(trusted.findAll('dash')).toHaveLength(1);
    expect(trusted.hasLost('dash')).toBe(false);
  });

  test('counts by where it really is', ({ skip }) => {
    skip(!hasOwnPlace, 'the home is below a directory of everybody');
    using place = ownPlace(identity);
    mkdirSync(join(place.base, 'real'));
    copyFileSync('/bin/true', join(place.base, 'real/bwrap'));
    symlinkSync('../real/bwrap', join(place.workspace, 'bwrap'));
    const trusted = new TrustedPath({ path: place.workspace, cwd: '/' });
    const real = join(place.base, 'real/bwrap');
    expect(trusted.findAll('bwrap')).toContain(real);
    trusted.distrust(writableBelow(place.workspace));
    expect(trusted.findAll('bwrap')).toContain(real);
    trusted.distrust(writableBelow(join(place.base, 'real')));
    expect(trusted.findAll('bwrap')).not.toContain(real);
  });
});
