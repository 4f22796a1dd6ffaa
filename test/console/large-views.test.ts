// Needs: chromium
import { readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ExecProcess } from '../../src/contract/index.js';
import { heapOf, test, untilSeen } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

const LINES = 200_000;
const LINE_BYTES = 1_000;
const MAX_HEAP_BYTES = 100_000_000;

test('200 MB of output are there by line, in bounded memory', async ({ page, agent, at }) => {
  const filler = 'x'.repeat(LINE_BYTES - 8);
  const script = `BEGIN { for (i = 1; i <= ${LINES}; i++) printf "%06d %s\\n", i, "${filler}" }`;
  const kept = { lease: 'kept', retain: 'disk' } as const;
  const child = await agent.start({
    argv: ['awk', script],
    processId: 'large',
    ...kept,
    onSlowReader: 'spool',
  });
  await child.detach();
  await page.goto(at('processes/kept/large/output'));
  await page.getByText('complete').waitFor();
  await page.getByText('200,000 lines').waitFor();
  await page.locator('.line', { hasText: /^200000200000 xxx/ }).waitFor();
  for (const line of [1, 123_456]) {
    await page.getByLabel('Search the whole output').fill(String(line).padStart(6, '0'));
    await page.keyboard.press('Enter');
    await page.locator('.line.found', { hasText: String(line).padStart(6, '0') }).waitFor();
  }
  expect(await page.locator('.line').count()).toBeLessThan(200);
  expect(await heapOf(page)).toBeLessThan(MAX_HEAP_BYTES);
});

test('four terminals stand side by side, and another one takes a place', async ({ page, agent, at }) => {
  const children: ExecProcess[] = [];
  for (const processId of ['one', 'two', 'three', 'four', 'five']) {
    const argv = ['sh', '-c', `echo terminal ${processId}; read stay`];
    children.push(await agent.start({ argv, tty: true, processId, lease: 'kept' }));
  }
  await page.goto(at('grid'));
  await untilSeen(() => page.locator('.grid4 section').count()).toBe(4);
  const shown = page.locator('.grid4');
  for (const name of ['two', 'three', 'four', 'five'])
    await untilSeen(() => shown.textContent()).toContain(`terminal ${name}`);
  await page.getByLabel('Show another terminal').selectOption({ index: 1 });
  await untilSeen(() => shown.textContent()).toContain('terminal one');
  expect(await page.locator('.grid4 section').count()).toBe(4);
  for (const child of children) await child.terminate();
});

test('files are uploaded by dropping them, and no name leads out of the downloads', async ({ page, at }) => {
  using folder = new TestFolder();
  const names = ['..\\..\\evil.txt', '.bashrc', 'a\u202etxt.exe', 'con"; filename=x.html', '%2e%2e%2fup'];
  for (const name of names) writeFileSync(`${folder.path}/${name}`, 'content');
  await page.goto(at(`files/${encodeURIComponent(folder.path)}`));
  await page.getByRole('button', { name: '.bashrc', exact: true }).waitFor();
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['dropped'], 'dropped.txt'));
    return transfer;
  })()`);
  await page.dispatchEvent('.body', 'drop', { dataTransfer: dropped });
  await page.getByText('dropped.txt was uploaded.').waitFor();
  expect(readFileSync(folder.file('dropped.txt'), 'utf8')).toBe('dropped');
  await dropFromDisk(page, folder.path);
  await page.getByText('Directories cannot be dropped here.').waitFor();
  const buttons = page.getByRole('button', { name: /^Download / });
  await untilSeen(() => buttons.count()).toBe(names.length + 1);
  for (let index = 0; index <= names.length; index += 1) {
    const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(index).click()]);
    expect(download.suggestedFilename()).not.toMatch(/[/\\\u202e]/);
    expect(['content', 'dropped']).toContain(readFileSync(await download.path(), 'utf8'));
  }
});

/** As from a file manager: a page cannot make a directory to drop. */
async function dropFromDisk(page: Page, path: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: 900, y: 400, data });
  await devtools.detach();
}
