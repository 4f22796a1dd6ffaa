import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { holdPlaceholder } from '../../src/host/sandbox/plan/placeholder.js';
import { tally, tries } from './tally.js';

const TRIES = tries(3_000);

/** Swaps the directory with a link to the place outside, as fast as it can. */
const SWAP = `
  const { existsSync, renameSync } = require('node:fs');
  process.chdir(process.argv[1]);
  console.log('ready');
  for (let n = 0; ; n += 1) {
    try {
      renameSync('sub', 'real');
      renameSync('link', 'sub');
      renameSync('sub', 'link');
      renameSync('real', 'sub');
    } catch { process.exit(1); }
    if (n % 64 === 0 && existsSync('stop')) process.exit(0);
  }`;

describe('placeholders, while somebody swaps their directory', () => {
  let base: string;
  let outside: string;
  let swapper: ChildProcess;

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'execwire-race-')));
    outside = join(base, 'outside');
    mkdirSync(join(base, 'workspace', 'sub'), { recursive: true });
    mkdirSync(outside);
    symlinkSync(outside, join(base, 'workspace', 'link'));
    swapper = spawn(process.execPath, ['-e', SWAP, join(base, 'workspace')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (swapper.stdout) await once(swapper.stdout, 'data');
  });

  afterEach(() => {
    swapper.kill('SIGKILL');
    rmSync(base, { recursive: true, force: true });
  });

  /** Holds and gives back until it was tried often enough. Tells how often it was held. */
  function hold(whileHeld: () => void = () => {}): number {
    let count = 0;
    for (let n = 0; n < TRIES; n += 1) {
      try {
        const placeholder = holdPlaceholder(join(base, 'workspace', 'sub', '.git'));
        whileHeld();
        placeholder?.release();
        count += 1;
      } catch {
        // The path is another one now, or is not there.
      }
    }
    return count;
  }

  test('are never made behind the link', () => {
    const seen = new Set<string>();
    const held = hold(() => readdirSync(outside).forEach((name) => seen.add(name)));
    tally('placeholders behind a swapped link', { tries: TRIES, successes: seen.size });
    expect([...seen]).toEqual([]);
    expect(readdirSync(outside)).toEqual([]);
    expect(held).toBeGreaterThan(0);
  });

  test('are all removed, and nothing of the same name elsewhere is', async () => {
    mkdirSync(join(outside, '.git'), { mode: 0o1755 });
    const held = hold(() => expect(existsSync(join(outside, '.git'))).toBe(true));
    expect(readdirSync(outside)).toEqual(['.git']);
    // It ends with the directory in its place.
    writeFileSync(join(base, 'workspace', 'stop'), '');
    await once(swapper, 'exit');
    expect(readdirSync(join(base, 'workspace', 'sub'))).toEqual([]);
    expect(held).toBeGreaterThan(0);
  });
});
