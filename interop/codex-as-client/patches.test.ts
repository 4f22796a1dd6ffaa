import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { applyPatch } from '../harness/model-script.js';
import { type Stage, openStage } from '../harness/stage.js';

const changing = new Set(['fs/writeFile', 'fs/createDirectory', 'fs/remove']);

/** The requests that change files, as `method path` with the path below the workspace. */
function changes({ wire, run }: Stage): string[] {
  const base = `${pathToFileURL(run.workspace).href}/`;
  return wire.messages
    .filter(({ from, method = '' }) => from === 'client' && changing.has(method))
    .map(({ method, params }) => `${method} ${String(params?.['path']).replace(base, '')}`);
}

describe.each(servers)('patches of Codex on $name', (kind) => {
  test('a file is added in a directory that does not exist yet', async () => {
    await using stage = await openStage(kind);
    await stage.play(async function* () {
      expect(yield applyPatch('*** Add File: new/deep/a.txt', '+first', '+zweite Zeile: ü')).toContain(
        'A new/deep/a.txt',
      );
      return 'done';
    });
    expect(await readFile(join(stage.run.workspace, 'new/deep/a.txt'), 'utf8')).toBe(
      'first\nzweite Zeile: ü\n',
    );
    // Codex learns from "not found" alone that the directory is missing.
    expect(changes(stage)).toEqual([
      'fs/writeFile new/deep/a.txt',
      'fs/createDirectory new/deep',
      'fs/writeFile new/deep/a.txt',
    ]);
  });

  test('a file is updated, another deleted, a third moved', async () => {
    await using stage = await openStage(kind);
    const { workspace } = stage.run;
    for (const name of ['update.txt', 'delete.txt', 'move.txt']) {
      await writeFile(join(workspace, name), `${name}\nold\n`);
    }
    await stage.play(async function* () {
      const report = yield applyPatch(
        '*** Update File: update.txt',
        '@@',
        ' update.txt',
        '-old',
        '+new',
        '*** Delete File: delete.txt',
        '*** Update File: move.txt',
        '*** Move to: moved here.txt',
        '@@',
        ' move.txt',
        '-old',
        '+new',
      );
      expect(report).toContain('Success');
      return 'done';
    });
    expect((await readdir(workspace)).sort()).toEqual(['moved here.txt', 'update.txt']);
    expect(await readFile(join(workspace, 'update.txt'), 'utf8')).toBe('update.txt\nnew\n');
    expect(await readFile(join(workspace, 'moved here.txt'), 'utf8')).toBe('move.txt\nnew\n');
    expect(changes(stage)).toEqual([
      'fs/writeFile update.txt',
      'fs/remove delete.txt',
      'fs/writeFile moved%20here.txt',
      'fs/remove move.txt',
    ]);
  });

  test('a patch that does not fit changes nothing', async () => {
    await using stage = await openStage(kind);
    await writeFile(join(stage.run.workspace, 'a.txt'), 'something else\n');
    await stage.play(async function* () {
      expect(yield applyPatch('*** Update File: a.txt', '@@', '-old', '+new')).not.toContain('Success');
      return 'done';
    });
    expect(await readFile(join(stage.run.workspace, 'a.txt'), 'utf8')).toBe('something else\n');
    expect(changes(stage)).toEqual([]);
  });
});
