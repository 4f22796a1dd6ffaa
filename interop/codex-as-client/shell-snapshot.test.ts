import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { servers } from '../harness/exec-server.js';
import { execCommand, readReport } from '../harness/model-script.js';
import { openStage } from '../harness/stage.js';

const features = ['shell_snapshot_v2'];

describe.each(servers)('shell snapshots on $name', (kind) => {
  test.each(['danger-full-access', 'workspace-write'] as const)(
    'the profile runs once, %s',
    async (sandbox) => {
      await using stage = await openStage(kind);
      const { serverHome } = stage.run;
      const runs = join(stage.run.workspace, 'runs');
      const profile = `echo >>'${runs}'\nexport FROM_PROFILE=yes\ngreet() { echo "hello $1"; }\nalias say=echo\n`;
      await writeFile(join(serverHome, '.bash_profile'), `${profile}shopt -s expand_aliases\n`);
      await stage.play(
        async function* () {
          for (const name of ['one', 'two', 'three']) {
            const report = readReport(yield execCommand(`greet ${name}; say $FROM_PROFILE`));
            expect(report).toMatchObject({ exitCode: 0, output: `hello ${name}\nyes\n` });
          }
          const plain = readReport(yield execCommand('greet four', { login: false }));
          expect(plain.exitCode).toBe(127);
          return 'done';
        },
        { sandbox, features },
      );
      expect((await readFile(runs, 'utf8')).length).toBe(1);
      const asked = stage.wire
        .requests('process/start')
        .map(({ params }) => params?.['shellSnapshot'] !== undefined);
      expect(asked).toEqual([true, true, true, false]);
    },
  );
});
