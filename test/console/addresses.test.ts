// Needs: chromium
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { shows, test } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

const KEPT = { lease: 'kept', retain: 'disk' } as const;

test('every view has an address that survives a reload', async ({ page, agent, at }) => {
  using folder = new TestFolder();
  writeFileSync(folder.file('here.txt'), 'here\n');
  const child = await agent.start({
    argv: ['sh', '-c', 'echo printed; read stay'],
    tty: true,
    processId: 'kept-one',
    ...KEPT,
  });
  const places = [
    ['processes', 'sh -c'],
    ['processes/kept/kept-one/output', 'printed'],
    ['grid', 'printed'],
    [`files/${encodeURIComponent(folder.path)}`, 'here.txt'],
    ['files', 'Choose a file to look at.'],
    ['ports', 'No process listens on a port.'],
    ['changes', 'No changes are held.'],
    ['changes/nothing', 'There are no held changes with this id.'],
    ['processes/kept/forgotten/live', 'This process is not known any more.'],
    ['nonsense', 'Machines'],
  ] as const;
  for (const [place, shown] of places) {
    await page.goto(at(place));
    await page.reload();
    await page.locator('main', { hasText: shown }).waitFor();
  }
  for (const tab of ['live', 'replay']) {
    await page.goto(at(`processes/kept/kept-one/${tab}`));
    await page.reload();
    await shows(page, 'printed');
  }
  await child.terminate();
});

test('one can go back and forward', async ({ page, at }) => {
  await page.goto(at('processes'));
  await page.getByRole('link', { name: 'Ports' }).click();
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('heading', { name: 'Changes' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Processes' }).waitFor();
  await page.goForward();
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
});

test('directories with names that are no text are shown, reloaded and left again', async ({ page, at }) => {
  using folder = new TestFolder();
  const bytes = Buffer.concat([Buffer.from(folder.file('d')), Buffer.from([0xff, 0xfe])]);
  mkdirSync(Buffer.concat([bytes, Buffer.from('/inner')]), { recursive: true });
  writeFileSync(Buffer.concat([bytes, Buffer.from('/inner/file')]), 'x');
  await page.goto(at(`files/${encodeURIComponent(folder.path)}`));
  await page.getByRole('link', { name: 'd\ufffd\ufffd' }).click();
  await page.getByRole('link', { name: 'inner' }).click();
  await page.getByRole('button', { name: 'file', exact: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'file', exact: true }).waitFor();
  const path = page.getByRole('navigation', { name: 'Path' });
  expect(await path.textContent()).toBe(`${folder.path}/d\ufffd\ufffd/inner`);
  await path.getByRole('link', { name: 'd\ufffd\ufffd' }).click();
  await page.getByRole('link', { name: 'inner' }).waitFor();
  await path.getByRole('link').last().click();
  await page.getByRole('link', { name: 'd\ufffd\ufffd' }).waitFor();
});

test('a link opened in the tab of an old page signs in, and leads back to where one was', async ({
  opened,
  at,
}) => {
  const { page, context } = await opened.person();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Open the link that the console printed').waitFor();
  await page.goto(at('ports'));
  const link = await opened.freshLink();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
  expect(page.url()).toBe(at('ports'));
  // It has been used, and somebody is signed in.
  await page.goto(link);
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
  await context.newPage().then(async (tab) => {
    await tab.goto(link);
    await tab.getByRole('heading', { name: 'Machines' }).waitFor();
    expect(tab.url()).not.toContain('key');
  });
  const other = await opened.person();
  await other.page.getByRole('button', { name: 'Sign out' }).click();
  await other.page.getByText('Open the link that the console printed').waitFor();
  await other.page.goto(link);
  await other.page.getByText('This link has already been used').waitFor();
  await other.context.close();
  await context.close();
  // Browsers report requests that are refused.
  opened.complaints.splice(0);
});
