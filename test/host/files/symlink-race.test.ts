import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { benchDirectory } from './bench-directory.js';

/** Enough for a check that is not tied to its use to fail many times over. */
const ROUNDS = 100;

/** Swaps a directory for a link to another one and back, as fast as it can, whether the directory exists or not. */
const SWAPPER = `
  const fs = require('node:fs');
  const [directory, aside, target] = process.argv.slice(1);
  const attempt = (step) => { try { step(); } catch {} };
  process.stdout.write('ready');
  for (let round = 0; ; round++) {
    attempt(() => fs.renameSync(directory, aside + round));
    attempt(() => fs.symlinkSync(target, directory));
    attempt(() => fs.unlinkSync(directory));
    attempt(() => fs.renameSync(aside + round, directory));
  }`;

async function startSwapper(directory: string, aside: string, target: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ['-e', SWAPPER, directory, aside, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('a directory that is swapped for a link', () => {
  test('never lets a no-follow operation out', async () => {
    using bench = benchDirectory();
    const files = new LocalFileSystem();
    mkdirSync(bench.at('base/dir'), { recursive: true });
    mkdirSync(bench.at('outside'));
    writeFileSync(bench.at('base/dir/file'), 'inside');
    writeFileSync(bench.at('outside/file'), 'outside');
    const no = { followSymlinks: false };
    const path = bench.at('base/dir/file');
    const read = new Set<string>();
    {
      await using _swapper = await startSwapper(
        bench.at('base/dir'),
        bench.at('base/aside'),
        bench.at('outside'),
      );
      for (let round = 0; round < ROUNDS; round++) {
        const content = await files.readFile(path, no).catch(() => null);
        if (content !== null) read.add(Buffer.from(content).toString());
        await files.writeFile(path, 'inside', { ...no, atomic: round % 2 === 0 }).catch(() => undefined);
        await files.writeFile(bench.at('base/dir/other'), 'inside', no).catch(() => undefined);
        await files.createDirectory(bench.at(`base/dir/new-${round}`), no).catch(() => undefined);
        await files.remove(bench.at('base/dir/file'), { ...no, recursive: false }).catch(() => undefined);
        await files.getMetadata(path, no).catch(() => undefined);
      }
    }
    expect(readFileSync(bench.at('outside/file'), 'utf8')).toBe('outside');
    expect(readdirSync(bench.at('outside'))).toEqual(['file']);
    expect([...read].filter((content) => content !== 'inside' && content !== '')).toEqual([]);
  });

  test('never leads a removal out of its tree', async () => {
    using bench = benchDirectory();
    const files = new LocalFileSystem();
    mkdirSync(bench.at('outside/deep'), { recursive: true });
    writeFileSync(bench.at('outside/deep/file'), '');
    {
      await using _swapper = await startSwapper(bench.at('tree/sub'), bench.at('aside'), bench.at('outside'));
      for (let round = 0; round < ROUNDS; round++) {
        mkdirSync(bench.at('tree'), { recursive: true });
        await files.createDirectory(bench.at('tree/sub/deep')).catch(() => undefined);
        // The swapper puts things back while the removal runs, so it may well not come to an end.
        await files.remove(bench.at('tree')).catch(() => undefined);
      }
    }
    expect(existsSync(bench.at('outside/deep/file'))).toBe(true);
  });
});
