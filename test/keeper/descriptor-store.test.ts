import { closeSync, fstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openPipe } from '../../src/host/kernel/index.js';
import { DescriptorStore } from '../../src/keeper/descriptor-store.js';

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

test('descriptors are kept by name, and closed when they are let go or replaced', () => {
  const store = new DescriptorStore();
  const [a, b] = [openPipe(), openPipe()];
  store.hold('p', ['in', 'out'], [a.readEnd, a.writeEnd]);
  store.hold('p', ['in'], [b.readEnd]);
  expect(isOpen(a.readEnd)).toBe(false);
  expect([...(store.entries.get('p')?.descriptors.keys() ?? [])]).toEqual(['out', 'in']);
  store.letGo('p', 'out');
  expect(isOpen(a.writeEnd)).toBe(false);
  store.letGo('p');
  expect(isOpen(b.readEnd)).toBe(false);
  expect(store.entries.size).toBe(0);
  store.letGo('p');
  closeSync(b.writeEnd);
});

test('a key is spoiled if some of its descriptors never arrived', () => {
  const store = new DescriptorStore();
  const { readEnd, writeEnd } = openPipe();
  store.hold('whole', ['in'], [readEnd]);
  store.hold('part', ['in', 'out'], [writeEnd]);
  store.spoil('unknown');
  const spoiled = [...store.entries].map(([key, held]) => [key, held.spoiled]);
  expect(spoiled).toEqual([
    ['whole', false],
    ['part', true],
    ['unknown', true],
  ]);
  for (const key of ['whole', 'part']) store.letGo(key);
});
