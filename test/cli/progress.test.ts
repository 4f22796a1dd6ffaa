import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { progressLine } from '../../src/cli/terminal/progress.js';
import { execwire } from '../../testkit/command-line.mjs';
import { TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { Tmux } from '../harness/tmux.js';

describe('the line of a copy', () => {
  const done = { files: 3, bytes: 25_000_000 };
  const total = { files: 12, bytes: 100_000_000 };
  const at = { seconds: 5, columns: 200 };

  test('shows files, bytes, rate and time left, as far as they are known', () => {
    expect(progressLine(done, total, at)).toBe(
      '[#####...............] 25%  25.0 MB of 100.0 MB  3 of 12 files  5.0 MB/s  15s left',
    );
    expect(progressLine(done, undefined, at)).toBe('25.0 MB  3 files  5.0 MB/s');
    expect(progressLine({ files: 0, bytes: 0 }, { files: 1, bytes: 0 }, at)).toContain('100%');
  });

  test('is never longer than there is room for', () => {
    for (let columns = 0; columns < 120; columns += 1) {
      const line = progressLine(done, total, { seconds: 5, columns });
      expect(line.length).toBeLessThanOrEqual(columns);
      if (columns >= 3) expect(line).toContain('25%');
    }
  });
});

test('a terminal shows one line, however narrow; a pipe and --quiet show nothing', async () => {
  using folder = new TestFolder();
  await using server = await ServerProcess.start();
  mkdirSync(folder.file('tree'));
  for (let index = 0; index < 20; index += 1) writeFileSync(folder.file(`tree/${index}`), 'x'.repeat(1000));
  const copy = (name: string, flags = ''): string =>
    `'${process.execPath}' '${bin}' cp ${flags} '${folder.file('tree')}' '${server.url}:${folder.file(name)}'`;
  for (const cols of [120, 30]) {
    using terminal = new Tmux(`${copy(`shown${cols}`)}; echo over; read wait`, { rows: 10, cols });
    await expect.poll(() => terminal.screen, { timeout: 20_000 }).toContain('over');
    const [line = '', after] = terminal.screen;
    expect(after).toBe('over');
    expect(line).toContain('100%');
    expect(line).toContain('20.0 kB of 20.0 kB');
    if (cols === 120) expect(line).toContain('20 of 20 files');
  }
  using quiet = new Tmux(`${copy('quiet', '--quiet')}; echo over; read wait`, { rows: 10, cols: 80 });
  await expect.poll(() => quiet.screen, { timeout: 20_000 }).toContain('over');
  expect(quiet.screen[0]).toBe('over');
  const piped = await execwire(['cp', folder.file('tree'), `${server.url}:${folder.file('piped')}`]);
  expect(piped).toEqual({ code: 0, stdout: '', stderr: '' });
});
