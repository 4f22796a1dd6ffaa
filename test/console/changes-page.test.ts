// Needs: chromium, bwrap
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { accessibilityProblems } from '../harness/accessibility.js';
import { test, untilSeen } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

interface Held {
  readonly folder: TestFolder;
  readonly script: string;
  readonly changesId: string;
}

async function hold(agent: Environment, { folder, script, changesId }: Held): Promise<void> {
  const sandbox = namedSandbox({ policy: 'workspace-write' }, { workspace: folder.path });
  if (!sandbox) throw new Error('there is no sandbox');
  const held = { ...sandbox, changes: 'hold', changesId, changesLease: 'kept' } as const;
  const child = await agent.start({ argv: ['sh', '-c', script], cwd: folder.path, sandbox: held });
  expect(await child.wait()).toMatchObject({ kind: 'exited', exitCode: 0 });
}

test('held changes are listed, compared, applied in part and discarded', async ({ page, agent, at }) => {
  using folder = new TestFolder();
  writeFileSync(folder.file('a.txt'), 'one\ntwo\n');
  writeFileSync(folder.file('old.txt'), 'old\n');
  const script = 'echo "<b>three</b>" >> a.txt; rm old.txt; echo new > "new<img src=x>.txt"';
  await hold(agent, { folder, script, changesId: 'task-1' });
  await page.goto(at('changes'));
  await page.getByRole('link', { name: 'task-1' }).click();
  await page.getByText('1 created, 1 modified, 1 deleted').waitFor();
  await page.getByRole('button', { name: /^a\.txt/ }).click();
  await page.locator('.added', { hasText: '+<b>three</b>' }).waitFor();
  expect(await page.locator('.code-line b, td img').count()).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.getByLabel(/^Choose .*a\.txt$/).check();
  await page.getByRole('button', { name: 'Apply 1 chosen' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(readFileSync(folder.file('a.txt'), 'utf8')).toBe('one\ntwo\n');
  await page.getByRole('button', { name: 'Apply 1 chosen' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Applied: 0 created, 1 modified, 0 deleted.').waitFor();
  expect(readFileSync(folder.file('a.txt'), 'utf8')).toBe('one\ntwo\n<b>three</b>\n');
  expect(existsSync(folder.file('old.txt'))).toBe(true);

  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByText('The changes were discarded.').waitFor();
  await page.getByText('No changes are held.').waitFor();
  expect(existsSync(folder.file('old.txt'))).toBe(true);
});

test('a conflict applies nothing until somebody decides', async ({ page, agent, at }) => {
  using folder = new TestFolder();
  writeFileSync(folder.file('both.txt'), 'before\n');
  await hold(agent, { folder, script: 'echo held > both.txt; echo new > new.txt', changesId: 'task-2' });
  writeFileSync(folder.file('both.txt'), 'somebody else\n');
  await page.goto(at('changes/task-2'));
  const apply = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Apply all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('heading', { name: 'Nothing was applied' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'both.txt' }).waitFor();
  };
  await apply();
  expect(existsSync(folder.file('new.txt'))).toBe(false);
  await page.getByRole('button', { name: 'Apply the rest' }).click();
  await page.getByText('Applied: 1 created, 0 modified, 0 deleted, 1 left as they are.').waitFor();
  expect(existsSync(folder.file('new.txt'))).toBe(true);
  expect(readFileSync(folder.file('both.txt'), 'utf8')).toBe('somebody else\n');
  await apply();
  await page.getByRole('button', { name: 'Overwrite them' }).click();
  await untilSeen(() => readFileSync(folder.file('both.txt'), 'utf8')).toBe('held\n');
  await agent.changes('task-2').discard();
});

test('a process started in the page holds its changes, in its sandbox', async ({ page, at }) => {
  using folder = new TestFolder();
  await page.goto(at('processes'));
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Command').fill('echo held > here.txt; echo no > /usr/not-allowed; echo done');
  await page.getByRole('textbox', { name: 'Directory' }).fill(folder.path);
  await page.getByLabel('Sandbox').selectOption({ label: 'Write below the directory only' });
  await page.getByLabel('Hold its changes').check();
  await page.getByLabel('On a terminal').uncheck();
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.locator('.line', { hasText: 'done' }).waitFor();
  await page.locator('.line', { hasText: /not-allowed.*Read-only/ }).waitFor();
  await page.getByText('sandboxed').waitFor();
  expect(existsSync(folder.file('here.txt'))).toBe(false);
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('row').last().getByRole('link').click();
  // What an earlier test was told may still be in view.
  await page.getByText('1 created, 0 modified, 0 deleted', { exact: true }).waitFor();
});

test('a patch shows every line as what it is, whatever the file contains', async ({ page, agent, at }) => {
  using folder = new TestFolder();
  // With a sign before them, these look like the head of a patch, or like another file's.
  writeFileSync(folder.file('hostile.sql'), '-- a/drop\nkept\n-- index 1\n');
  const lines = [
    '++ b/harmless.txt',
    '@@ -1 +1 @@',
    'diff --git a/x b/x',
    'new file mode',
    'shown\u202e\u2066 as\u{e0041}',
  ];
  writeFileSync(folder.file('lines'), `kept\n${lines.join('\n')}\n`);
  await hold(agent, { folder, script: 'cat lines > hostile.sql; rm lines', changesId: 'task-3' });
  await page.goto(at('changes/task-3'));
  await page.getByRole('button', { name: /^hostile\.sql/ }).click();
  await page.locator('.added', { hasText: 'shown' }).waitFor();
  expect(await page.locator('.code-line.removed').allTextContents()).toEqual(['--- a/drop', '--- index 1']);
  expect(await page.locator('.code-line.added').allTextContents()).toEqual([
    ...lines.slice(0, 4).map((line) => `+${line}`),
    '+shown\ufffd\ufffd as\ufffd',
  ]);
  await agent.changes('task-3').discard();
});
