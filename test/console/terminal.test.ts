// Needs: chromium
import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, ProcessSpec } from '../../src/contract/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { screenText, shows, test, untilSeen } from '../harness/browser.js';
import { untilPrinted } from '../harness/events.js';

async function startShell(agent: RemoteEnvironment, more: Partial<ProcessSpec> = {}): Promise<ExecProcess> {
  const env = { PS1: '$ ', TERM: 'xterm-256color' };
  const size = { rows: 24, cols: 80 };
  return await agent.start({ argv: ['sh'], tty: true, env, size, ...more });
}

describe('a terminal in the page', () => {
  test('is started, typed to, resized and interrupted', async ({ opened }) => {
    const { page, context } = await opened.person();
    await page.getByRole('link', { name: 'Processes' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByLabel('Command').fill('sh');
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('you type').waitFor();
    await page.keyboard.type('stty size; echo ready\n');
    await shows(page, '\nready');
    const before =
      (await screenText(page))
        .match(/^(\d+) (\d+)$/m)
        ?.slice(1)
        .map(Number) ?? [];
    expect(before[1]).toBeGreaterThan(100);

    await page.setViewportSize({ width: 900, height: 600 });
    await page.locator('.terminal-bar', { hasNotText: `${before[1]} × ${before[0]}` }).waitFor();
    await page.keyboard.type('clear; stty size; echo smaller\n');
    await shows(page, '\nsmaller');
    const after =
      (await screenText(page))
        .match(/^(\d+) (\d+)$/m)
        ?.slice(1)
        .map(Number) ?? [];
    expect([Number(after[0]) < Number(before[0]), Number(after[1]) < Number(before[1])]).toEqual([
      true,
      true,
    ]);

    // What was typed and not read yet would go with the interrupt.
    await page.keyboard.type('sh -c "echo sleep\'\'ing; exec sleep 1000"\n');
    await shows(page, '\nsleeping');
    await page.keyboard.press('Control+c');
    await page.keyboard.type('echo code $?; exit 7\n');
    await shows(page, 'code 130');
    await page.getByText('exited 7').waitFor();
    await page.getByText('ended', { exact: true }).waitFor();
    await context.close();
  });

  test('gives what is selected to the clipboard, and Ctrl-C to the program', async ({
    agent,
    opened,
    at,
  }) => {
    const child = await startShell(agent, { argv: ['cat'] });
    const { page, context } = await opened.person();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');
    await page.goto(at(`processes/${agent.client.sessionId}/${child.processId}/live`));
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('you type').waitFor();
    await page.keyboard.type('first second\n');
    await shows(page, 'first second\nfirst second');
    const word = { position: { x: 12, y: 8 } };
    await page.locator('.xterm-screen').dblclick(word);
    await page.keyboard.press('Control+c');
    await untilSeen(clipboard).toBe('first');
    await page.locator('.xterm-screen').click({ ...word, clickCount: 3 });
    await page.keyboard.press('Control+Shift+C');
    await untilSeen(clipboard).toBe('first second');
    // It is still there, and what is in the clipboard can be typed.
    await page.keyboard.press('Control+Shift+V');
    await page.keyboard.type('!\n');
    await shows(page, 'first second!\nfirst second!');
    await page.keyboard.press('Control+c');
    await page.getByText('ended', { exact: true }).waitFor();
    await context.close();
  });

  test('takes a megabyte that is pasted, and emoji of a picker', async ({ agent, opened, at }) => {
    const count = `stty raw -echo; printf 'ready\\r\\n'; head -c 1000007 | sha256sum; stty sane; echo done; read stay`;
    const child = await startShell(agent, { argv: ['sh', '-c', count] });
    const { page, context } = await opened.person();
    await page.goto(at(`processes/${agent.client.sessionId}/${child.processId}/live`));
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('you type').waitFor();
    await shows(page, 'ready');
    const pasted = '0123456789'.repeat(100_000);
    await page.evaluate(
      `{ const transfer = new DataTransfer();
         transfer.setData('text/plain', ${JSON.stringify(pasted)});
         document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true })); }`,
    );
    // No key stands for these.
    await page.keyboard.insertText('語🙂');
    await shows(page, createHash('sha256').update(`${pasted}語🙂`).digest('hex'));
    await shows(page, 'done');
    await child.terminate();
    await context.close();
  });

  test('is searched, and says how often something is there', async ({ agent, opened, at }) => {
    const child = await startShell(agent, { argv: ['sh', '-c', 'seq 1 300; read stay'] });
    const { page, context } = await opened.person();
    await page.goto(at(`processes/${agent.client.sessionId}/${child.processId}/live`));
    await shows(page, '300');
    const find = page.getByLabel('Search in the terminal');
    await find.fill('299');
    await page.getByText('1 of 1').waitFor();
    await find.fill('no such text');
    await page.getByText('not found').waitFor();
    await find.fill('29');
    await page.getByText(/^\d+ of 1\d$/).waitFor();
    await child.terminate();
    await context.close();
  });

  test('joins late, leaves the size to others, and takes over', async ({ agent, opened, at }) => {
    const child = await startShell(agent);
    await child.write('echo be""fore\n');
    await untilPrinted(child, 'before');
    const [first, second] = [await opened.person(), await opened.person()];
    for (const { page } of [first, second]) {
      await page.goto(at(`processes/${agent.client.sessionId}/${child.processId}/live`));
      await shows(page, 'before');
      await page.getByText('80 × 24').waitFor();
    }
    // Watching does not type.
    await first.page.locator('.terminal-host').click();
    await first.page.keyboard.type('echo no""thing\n');
    await first.page.getByRole('button', { name: 'Take the keyboard' }).click();
    await first.page.getByText('you type').waitFor();
    await first.page.keyboard.type('echo from""first\n');
    await shows(second.page, 'fromfirst');
    await second.page.getByRole('button', { name: 'Take the keyboard' }).click();
    await second.page.getByText('you type').waitFor();
    await first.page.getByText('watching').waitFor();
    await second.page.keyboard.type('echo from""second\n');
    await shows(first.page, 'fromsecond');
    expect(await screenText(first.page)).not.toContain('nothing');
    await second.page.getByRole('button', { name: 'Stop typing' }).click();
    await second.page.getByText('watching').waitFor();
    // The agent was never kept from typing.
    await child.write('echo from""agent\n');
    await shows(first.page, 'fromagent');
    await child.terminate();
    for (const { page, context } of [first, second]) {
      await page.getByText('ended', { exact: true }).waitFor();
      await context.close();
    }
  });

  test('comes back after the connection was cut', async ({ agent, opened, at }) => {
    const child = await startShell(agent);
    await untilPrinted(child, '$');
    await using proxy = await FaultProxy.to(opened.origin);
    const through = new URL(proxy.url.replace('ws:', 'http:')).origin;
    const { page, context } = await opened.person({ through });
    await page.goto(
      at(`processes/${agent.client.sessionId}/${child.processId}/live`).replace(opened.origin, through),
    );
    await page.getByText('watching').waitFor();
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('you type').waitFor();
    proxy.cut();
    await child.write('echo mean""while\n');
    await shows(page, 'meanwhile');
    await page.getByText('you type').waitFor();
    await page.keyboard.type('echo still""typing\n');
    await shows(page, 'stilltyping');
    await context.close();
    // Browsers report connections that fail.
    opened.complaints.splice(0);
    await child.terminate();
  });
});
