import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { CaseReport } from '../src/conformance/index.js';
import { bin } from '../testkit/launch.mjs';
import { cleanEnv } from './harness/clean-env.js';
import { codexServer, startServer } from './harness/exec-server.js';
import { openRunDirectory } from './harness/run-directory.js';

/** Where the real server is known to differ. One more or less is news: the protocol or our reading of it has changed. */
const KNOWN_DIFFERENCES = [
  'promise/no-waiting-behind-a-read',
  'promise/loss-is-told',
  'promise/terminal-exit-code',
  'promise/terminal-directory',
  'promise/terminal-arg0',
  'promise/copy-onto-itself',
];

async function examine(target: readonly string[], home: string): Promise<CaseReport[]> {
  const child = spawn(process.execPath, [bin, 'conformance', '--json', ...target], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: cleanEnv(home),
  });
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(stdout) as CaseReport[];
}

/** What was seen where it is not known tells what has changed. */
function notOk(reports: readonly CaseReport[]): string[] {
  return reports
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ name, outcome, seen = '' }) =>
      KNOWN_DIFFERENCES.includes(name) ? `${outcome} ${name}` : `${outcome} ${name}: ${seen}`,
    );
}

const expected = KNOWN_DIFFERENCES.map((name) => `differs ${name}`);

test('the real server over ws differs where it is known to', async () => {
  await using run = await openRunDirectory();
  await using server = await startServer(codexServer, run);
  expect(notOk(await examine(['--url', server.url], run.clientHome))).toEqual(expected);
});

test('the real server over stdio differs where it is known to', async () => {
  await using run = await openRunDirectory();
  const program = ['--program', ...codexServer.argv('stdio')];
  expect(notOk(await examine(program, run.serverHome))).toEqual(expected);
});
