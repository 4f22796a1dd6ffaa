// Needs: chromium
import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { screenText, shows, test, untilSeen } from '../harness/browser.js';

const ROUND_TRIP_MS = 300;

/** Runs in the page: presses a button, lets the next event come, and tells what would get a key now. */
const FOCUS_AFTER_PRESSING = `(async () => {
  const buttons = [...document.querySelectorAll('button')];
  buttons.find(({ textContent }) => textContent === 'Start').click();
  const channel = new MessageChannel();
  const next = new Promise((resolve) => (channel.port1.onmessage = resolve));
  channel.port2.postMessage(null);
  await next;
  return document.activeElement.closest('label')?.querySelector('span').textContent;
})()`;

/** Runs in the page: leaves a dialog as Escape does, and presses its button before the browser says that it has closed. */
const LEAVE_AND_PRESS = `(async () => {
  const dialog = document.querySelector('dialog');
  const told = new Promise((resolve) => dialog.addEventListener('close', resolve));
  dialog.requestClose();
  for (let count = 0; count < 10; count += 1) await null;
  const buttons = [...document.querySelectorAll('main button')];
  buttons.find(({ textContent }) => textContent === 'Start').click();
  await told;
})()`;

async function focused(page: Page): Promise<unknown> {
  return await page.evaluate('document.activeElement.textContent');
}

test('one can do without a mouse', async ({ page, opened }) => {
  await page.goto(`${opened.origin}/#/`);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('processes local');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Processes' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('nothing like this');
  await page.getByText('Nothing matches.').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('start local');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('textbox').first().waitFor();
  await page.keyboard.type('echo by keyboard; read stay');
  await page.keyboard.press('Enter');
  await shows(page, 'by keyboard');
  await page.getByRole('button', { name: 'Take the keyboard' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('you type').waitFor();
  await page.keyboard.press('Control+c');
  await page.getByText('ended', { exact: true }).waitFor();
});

test('a dialog gets the very next key, and gives the focus back', async ({ page, at }) => {
  await page.goto(at('processes'));
  await page.getByRole('button', { name: 'Start', exact: true }).focus();
  expect(await page.evaluate(FOCUS_AFTER_PRESSING)).toBe('Command');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Start');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Start');
});

test('a dialog that was left can be opened again with the very next key', async ({ page, at }) => {
  await page.goto(at('processes'));
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await page.evaluate(LEAVE_AND_PRESS);
  await page.getByRole('dialog').getByLabel('Command').fill('stays');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('what is typed before a distant machine has answered is not lost', async ({ agent, opened, at }) => {
  await using proxy = await FaultProxy.to(opened.origin, { line: { roundTripMs: ROUND_TRIP_MS } });
  const through = new URL(proxy.url.replace('ws:', 'http:')).origin;
  const { page, context } = await opened.person({ through });
  await page.getByRole('heading', { name: 'Machines' }).waitFor();
  await page.goto(at('processes').replace(opened.origin, through));
  await page.reload();
  // Nothing is known of the machine yet, neither its directory nor its shell.
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.keyboard.type('pwd; cat\n');
  // Pressing it twice starts one process.
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.keyboard.type('typed at once\n');
  await shows(page, /typed at once\ntyped at once/);
  expect((await screenText(page)).split('\n')[0]).toBe(process.cwd());
  await page.keyboard.press('Control+d');
  await page.getByText('ended', { exact: true }).waitFor();
  await page.goto(at('processes').replace(opened.origin, through));
  const { shell } = await agent.client.call('environment/info', null);
  const started = `${shell.path} -c 'pwd; cat'`;
  await untilSeen(() => page.getByRole('link', { name: /pwd/ }).allTextContents()).toEqual([started]);
  await context.close();
});
