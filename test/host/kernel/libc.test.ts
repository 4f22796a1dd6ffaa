import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { declarations } from '../../../src/host/kernel/c-functions.js';
import { loadLibc } from '../../../src/host/kernel/libc.js';

const src = fileURLToPath(new URL('../../../src/', import.meta.url));

describe('the C library', () => {
  test('is bound in one file', () => {
    const binding = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /\bloadKoffi\(\)|\.func\(/.test(readFileSync(join(src, name), 'utf8')));
    expect(binding.toSorted()).toEqual(['host/kernel/libc.ts', 'host/kernel/load-koffi.ts']);
  });

  test('declares every C function once', () => {
    const functions = Object.values(declarations).map((text) => /(\w+)\(/.exec(text)?.[1]);
    // Each raw system call has parameters of its own.
    const names = functions.filter((name) => name !== 'syscall');
    expect(names).toEqual([...new Set(names)]);
  });

  test.skipIf(loadLibc() === null)('binds a function when it is first used, and once', () => {
    const libc = loadLibc() ?? expect.fail();
    const isBound = (): boolean => 'value' in (Object.getOwnPropertyDescriptor(libc, 'schedYield') ?? {});
    expect(isBound()).toBe(false);
    const { schedYield } = libc;
    expect(isBound()).toBe(true);
    expect(libc.schedYield).toBe(schedYield);
    expect(schedYield()).toBe(0);
  });

  test.skipIf(loadLibc() === null)('has all that is declared', () => {
    const libc = loadLibc() ?? expect.fail();
    for (const name of Object.keys(declarations)) expect(libc).toHaveProperty(name, expect.any(Function));
  });
});
