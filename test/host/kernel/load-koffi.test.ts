import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import { findLibrary, loadKoffi } from '../../../src/host/kernel/load-koffi.js';
import { TestFolder } from '../../harness/processes.js';

const { platform, arch } = process;
const LIBRARY = `@koromix/koffi-${platform}-${arch}/${platform}_${arch}/koffi.node`;

function put(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  return realpathSync(path);
}

describe('koffi', () => {
  test('calls C functions, also beside one that loaded itself', () => {
    for (const each of [loadKoffi(), koffi, loadKoffi()])
      expect(each.load('libc.so.6').func('int getpid()')()).toBe(process.pid);
    expect(loadKoffi().load('libc.so.6').func('int close(int fd)')(-1)).toBe(-1);
    expect(loadKoffi().errno()).toBe(9);
  });
});

describe('its library', () => {
  test('lies beside it', () => {
    using folder = new TestFolder();
    put(folder.file('near/node_modules/other/package.json'));
    put(folder.file('node_modules/koffi/package.json'));
    const library = put(folder.file(`node_modules/${LIBRARY}`));
    const searched = ['near/node_modules', 'node_modules'].map((name) => folder.file(name));
    expect(findLibrary(searched)).toBe(library);
  });

  test('is its own before that of others', () => {
    using folder = new TestFolder();
    put(folder.file(`node_modules/${LIBRARY}`));
    const library = put(folder.file(`node_modules/koffi/node_modules/${LIBRARY}`));
    expect(findLibrary([folder.file('node_modules')])).toBe(library);
  });

  test('lies where a link to koffi leads', () => {
    using folder = new TestFolder();
    const store = folder.file('store/koffi@3/node_modules');
    put(join(store, 'koffi', 'package.json'));
    const library = put(join(store, LIBRARY));
    mkdirSync(folder.file('node_modules'));
    symlinkSync(join(store, 'koffi'), folder.file('node_modules/koffi'));
    expect(findLibrary([folder.file('node_modules')])).toBe(library);
  });

  test('may be missing', () => {
    using folder = new TestFolder();
    expect(findLibrary([folder.file('node_modules')])).toBeUndefined();
    put(folder.file('node_modules/koffi/package.json'));
    expect(findLibrary([folder.file('node_modules')])).toBeUndefined();
  });
});
