import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findProgram, judgeProgram, programPlaces } from '../../../src/host/kernel/program-search.js';
import { TestFolder } from '../../harness/processes.js';

/** A directory of PATH with a file of that name and mode. */
function directory(base: string, name: string, mode?: number): string {
  const path = join(base, name);
  mkdirSync(path, { recursive: true });
  if (mode !== undefined) {
    writeFileSync(join(path, 'tool'), '#!/bin/sh\n');
    chmodSync(join(path, 'tool'), mode);
  }
  return path;
}

describe('looking for a program', () => {
  const places = (name: string, path?: string) => [...programPlaces({ name, cwd: '/w', path })];

  test('goes through PATH in order, where nothing means the current directory', () => {
    expect(places('tool', '/a:b::/c/')).toEqual(['/a/tool', '/w/b/tool', '/w/tool', '/c//tool']);
    expect(places('tool', '')).toEqual(['/w/tool']);
    expect(places('tool')).toEqual(['/usr/local/bin/tool', '/usr/bin/tool', '/bin/tool']);
  });

  test('does not ask PATH for a path, and leaves it as it is', () => {
    expect(places('./tool', '/a')).toEqual(['/w/./tool']);
    expect(places('link/../tool', '/a')).toEqual(['/w/link/../tool']);
    expect(places('/x/tool', '/a')).toEqual(['/x/tool']);
  });

  test('takes the first that can be run, and passes what is in its way', () => {
    using folder = new TestFolder();
    const [denied, good, later] = [0o644, 0o755, 0o755].map((mode, at) =>
      directory(folder.path, `d${at}`, mode),
    );
    const [file] = [join(folder.path, 'file')];
    writeFileSync(file, '');
    const ofThatName = directory(folder.path, 'nested/tool');
    symlinkSync(join(folder.path, 'nowhere'), join(directory(folder.path, 'dangling'), 'tool'));
    const path = [
      file,
      '/no/such',
      join(ofThatName, '..'),
      join(folder.path, 'dangling'),
      denied,
      good,
      later,
    ];
    const find = (directories: readonly (string | undefined)[]) =>
      findProgram({ name: 'tool', cwd: '/', path: directories.join(':') });
    expect(find(path)).toEqual({ path: `${good}/tool`, verdict: 'runnable' });
    expect(find(path.slice(0, 5))).toEqual({ path: `${denied}/tool`, verdict: 'denied' });
    expect(find(path.slice(0, 4))).toBeNull();
  });

  test.skipIf(process.geteuid?.() === 0)('passes a directory that may not be entered', () => {
    using folder = new TestFolder();
    const [closed, open] = ['closed', 'open'].map((name) => directory(folder.path, name, 0o755));
    chmodSync(closed ?? '', 0o600);
    const found = findProgram({ name: 'tool', cwd: '/', path: `${closed}:${open}` });
    chmodSync(closed ?? '', 0o700);
    expect(found?.path).toBe(`${open}/tool`);
  });

  test('judges by what a link leads to', () => {
    using folder = new TestFolder();
    const tool = join(directory(folder.path, 'real', 0o755), 'tool');
    symlinkSync(tool, join(folder.path, 'link'));
    symlinkSync(folder.path, join(folder.path, 'up'));
    expect(['link', 'up', 'none'].map((name) => judgeProgram(join(folder.path, name)))).toEqual([
      'runnable',
      'absent',
      'absent',
    ]);
  });
});
