// Needs: chromium
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { BrowserConsole, connectAgent, shows } from '../harness/browser.js';
import { serverOf } from '../harness/durable-server.js';
import { TestFolder } from '../harness/processes.js';

test('when its server was killed, a page asks for a new link, and leads back to where one was', async () => {
  using folder = new TestFolder();
  const args = ['serve', '--durable', folder.file('state'), '--console', '--log-level', 'silent'];
  await using opened = await BrowserConsole.open(args);
  const { page } = await opened.person();
  const agent = await connectAgent(opened);
  const argv = ['sh', '-c', 'while read line; do echo "got $line"; done'];
  const child = await agent.start({ argv, tty: true, processId: 'survivor', lease: 'kept' });
  const { origin } = opened;
  const place = `${origin}/#/local/processes/kept/survivor/live`;
  await page.goto(place);
  await page.getByText('watching').waitFor();
  const pid = serverOf(opened.pid);
  if (pid === null) throw new Error('there is no server');
  signalOne(pid, 'SIGKILL');
  await page.getByText('Open the link that the console printed').waitFor();
  await child.write('meanwhile\n');
  // The one that was printed before the server died opens nothing now.
  await opened.freshLink();
  const link = await opened.freshLink();
  expect(new URL(link).origin).toBe(origin);
  await page.goto(link);
  await shows(page, 'got meanwhile');
  expect(page.url()).toBe(place);
  await child.terminate();
  await agent.close();
});

test('views come back by themselves when a machine was restarted', async () => {
  using folder = new TestFolder();
  const start = async (port: string) =>
    await ServerProcess.start({ args: ['--listen', `ws://127.0.0.1:${port}`] });
  let box = await start('0');
  const { port } = new URL(box.url);
  writeFileSync(folder.file('environments.toml'), `[[environments]]\nid = "box"\nurl = "${box.url}"`);
  await using opened = await BrowserConsole.open(['console', '--log-level', 'silent'], {
    EXECWIRE_HOME: folder.path,
  });
  const { page } = await opened.person();
  await page.getByRole('link', { name: 'Processes' }).last().click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Command').fill('echo here; read stay');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await shows(page, 'here');
  const files = await page.context().newPage();
  await files.goto(`${opened.origin}/#/box/files/${encodeURIComponent(folder.path)}`);
  await files.getByRole('button', { name: 'environments.toml', exact: true }).waitFor();
  await box.stop('SIGKILL');
  await page.getByText('reconnecting').waitFor();
  box = await start(port);
  await page.getByText('This machine does not know the process any more.').waitFor();
  expect(await page.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
  writeFileSync(folder.file('new.txt'), '');
  await files.getByRole('button', { name: 'new.txt', exact: true }).waitFor();
  await box.stop();
});
