import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { applyPatch, execCommand, readReport } from '../harness/model-script.js';
import { openStage } from '../harness/stage.js';

describe.each(servers)('a workspace-write sandbox of Codex on $name', (kind) => {
  test('never lets a command write outside the workspace', async () => {
    await using stage = await openStage(kind);
    const outside = join(stage.run.outside, 'escaped.txt');
    await stage.play(
      async function* () {
        const report = readReport(yield execCommand(`echo escaped > '${outside}'`));
        expect(report.exitCode).not.toBe(0);
        return 'done';
      },
      { sandbox: 'workspace-write' },
    );
    await expect(access(outside)).rejects.toThrow('ENOENT');
    // Codex leaves the confinement to the server: nothing on its side would notice one that ignores this.
    expect(stage.wire.requests('process/start')[0]?.params?.['sandbox']).toMatchObject({
      permissions: { type: 'managed', file_system: { type: 'restricted' }, network: 'restricted' },
    });
  });
});

describe.each(servers)('inside its sandbox, $name', (kind) => {
  test('lets commands and patches write to the workspace, and says when it denied something', async () => {
    await using stage = await openStage(kind);
    await stage.play(
      async function* () {
        expect(readReport(yield execCommand('echo kept > inside.txt')).exitCode).toBe(0);
        expect(yield applyPatch('*** Add File: patched.txt', '+kept too')).toContain('Success');
        expect(readReport(yield execCommand(`echo no > '${stage.run.outside}/no'`)).exitCode).toBe(1);
        return 'done';
      },
      { sandbox: 'workspace-write' },
    );
    expect(await readFile(join(stage.run.workspace, 'inside.txt'), 'utf8')).toBe('kept\n');
    expect(await readFile(join(stage.run.workspace, 'patched.txt'), 'utf8')).toBe('kept too\n');
    const denied = stage.wire.messages
      .filter(({ method }) => method === 'process/exited')
      .map(({ params }) => params?.['sandboxDenied']);
    expect(denied).toEqual([false, true]);
  });
});
