import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { look } from './escapes/look.js';

const LOOKS = 20_000;

/** Makes a directory and removes it, over and over, as the server does with a name that must stay unused. */
const FLICKER = `
  const { mkdirSync, rmdirSync } = require('node:fs');
  mkdirSync(process.argv[1]);
  process.stdout.write('ready');
  for (;;) {
    rmdirSync(process.argv[1]);
    mkdirSync(process.argv[1]);
  }`;

async function startFlicker(path: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ['-e', FLICKER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('what is seen of a place', () => {
  test('does not depend on when a directory goes that kept a name free', async () => {
    using folder = new TestFolder();
    const path = folder.file('.codex');
    const seen = new Set<string>();
    await using _ = await startFlicker(path);
    for (let time = 0; time < LOOKS; time += 1) seen.add(look(path).join());
    expect([...seen]).toEqual([`${path} missing`]);
  });

  test('shows what was put where a name is kept free', () => {
    using folder = new TestFolder();
    const path = folder.file('.codex');
    mkdirSync(path);
    expect(look(path)).toEqual([`${path} missing`]);
    writeFileSync(folder.file('.codex/config'), 'attack');
    expect(look(path)).toEqual([
      expect.stringContaining(`${path} `),
      expect.stringMatching(/\.codex\/config .* attack$/),
    ]);
  });
});
