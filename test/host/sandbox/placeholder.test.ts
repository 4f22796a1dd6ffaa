import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tryLock } from '../../../src/host/kernel/sandbox-calls.js';
import { holdPlaceholder, isPlaceholder } from '../../../src/host/sandbox/plan/placeholder.js';

let directory: string;
let name: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'execwire-placeholder-'));
  name = join(directory, '.git');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a placeholder', () => {
  test('is there until its last user lets go of it', () => {
    const first = holdPlaceholder(name);
    const second = holdPlaceholder(name);
    first?.release();
    first?.release();
    expect(isPlaceholder(name)).toBe(true);
    second?.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('of another server stays, and so does ours while that one needs it', () => {
    mkdirSync(name, { mode: 0o1755 });
    const other = openSync(name, 'r');
    expect(tryLock(other, 'shared')).toBe(true);
    holdPlaceholder(name)?.release();
    expect(readdirSync(directory)).toEqual(['.git']);
    closeSync(other);
    holdPlaceholder(name)?.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that somebody replaced by a directory of their own is not mistaken for it', () => {
    const before = holdPlaceholder(name);
    rmdirSync(name);
    mkdirSync(name);
    expect(isPlaceholder(name)).toBe(false);
    const after = holdPlaceholder(name);
    before?.release();
    after?.release();
    expect(readdirSync(directory)).toEqual(['.git']);
  });

  test('that was removed is made again', () => {
    const before = holdPlaceholder(name);
    rmdirSync(name);
    const after = holdPlaceholder(name);
    before?.release();
    expect(isPlaceholder(name)).toBe(true);
    after?.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is filled like any other directory by who is not confined, and then stays as one', () => {
    const placeholder = holdPlaceholder(name);
    writeFileSync(join(name, 'config'), '');
    placeholder?.release();
    expect(readdirSync(name)).toEqual(['config']);
    expect(statSync(name).mode & 0o7000).toBe(0);
  });

  test.each([0o755, 0o555, 0o1777])('is not what somebody made with the mode %o', (mode) => {
    mkdirSync(name);
    chmodSync(name, mode);
    holdPlaceholder(name)?.release();
    expect(readdirSync(directory)).toEqual(['.git']);
  });

  test('with something in it is somebody’s directory by now', () => {
    const placeholder = holdPlaceholder(name);
    rmdirSync(name);
    mkdirSync(name);
    writeFileSync(join(name, 'config'), '');
    placeholder?.release();
    expect(readdirSync(name)).toEqual(['config']);
  });
});
