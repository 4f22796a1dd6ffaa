import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { SpoolQuota, TemporaryOutput } from '../../src/spool/index.js';
import { openUnlinked } from '../../src/spool/nameless-file.js';
import { TestFolder } from '../harness/processes.js';
import { tally, tries } from './tally.js';

const program = fileURLToPath(new URL('programs/spool-swapper.mjs', import.meta.url));
const TRIES = tries(150);

/** Confined programs may write to the temporary directory, where the output of other programs is kept for the model. */
test.each<[string, (parent: string) => Promise<() => void>]>([
  [
    'the usual way',
    async (parent) => {
      const owner = { expendableSince: () => null, dropSpool: () => undefined };
      const limits = { headBytes: 100, tailBytes: 100 };
      const output = new TemporaryOutput({ parent, owner, quota: new SpoolQuota(), ...limits });
      await output.write([Buffer.from('* * * * * root anything')]);
      return () => output.release();
    },
  ],
  [
    'where files need names',
    async (parent) => {
      try {
        const descriptor = openUnlinked(parent);
        return () => closeSync(descriptor);
      } catch {
        return () => undefined;
      }
    },
  ],
])('output kept %s ends up nowhere else, and nothing else is deleted', async (name, create) => {
  using folder = new TestFolder();
  const [temporary, elsewhere] = [folder.file('tmp'), folder.file('elsewhere')];
  for (const path of [temporary, elsewhere]) mkdirSync(path);
  const swapper = spawn(process.execPath, [program, temporary, elsewhere], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void swapper.kill('SIGKILL'));
  await once(swapper.stdout, 'data');
  let successes = 0;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    writeFileSync(`${elsewhere}/precious`, '');
    const remove = await create(temporary);
    remove();
    const found = readdirSync(elsewhere);
    if (found.length !== 1 || found[0] !== 'precious') successes += 1;
  }
  const ended = once(swapper, 'exit');
  swapper.stdin.end();
  await ended;
  tally(`output kept ${name}`, { tries: TRIES, successes });
  expect(successes).toBe(0);
});
