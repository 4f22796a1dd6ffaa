// Needs: chromium, nats-server
import { connect } from '@nats-io/transport-node';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { accessibilityProblems } from '../harness/accessibility.js';
import { BrowserConsole, shows } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

let cluster: NatsCluster;
let opened: BrowserConsole;
let page: Page;
const folder = new TestFolder();

beforeAll(async () => {
  cluster = await NatsCluster.start({ size: 1, jetStream: false });
  const env = { EXECWIRE_FLEET: cluster.urls.join(','), EXECWIRE_HOME: folder.path };
  opened = await BrowserConsole.open(['console', '--log-level', 'silent'], env);
  ({ page } = await opened.person());
  await page.getByRole('heading', { name: 'Machines' }).waitFor();
});

afterEach(() => expect(opened.complaints.splice(0)).toEqual([]));

afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await cluster.stop();
  folder[Symbol.dispose]();
});

async function join(name: string, ...args: string[]): Promise<ServerProcess> {
  const where = cluster.urls.join(',');
  return await ServerProcess.start({ args: ['--fleet', where, '--insecure', '--name', name, ...args] });
}

test('machines of a fleet come, are used, and go', async () => {
  const fleet = page.getByRole('region', { name: 'Fleet' });
  await fleet.getByText('0 machines').waitFor();
  const machine = await join('build-7', '--label', 'gpu=a100');
  const row = fleet.getByRole('row', { name: /build-7/ });
  await row.getByText('ready').waitFor();
  await row.getByText('gpu=a100').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByLabel('Filter the fleet').fill('gpu=h100');
  await fleet.getByText('No machine matches.').waitFor();
  await page.getByLabel('Filter the fleet').fill('a100');
  await row.getByRole('link', { name: 'build-7' }).click();
  await page.getByRole('heading', { name: 'Processes' }).waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Command').fill('echo over the fleet; read stay');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await shows(page, 'over the fleet');
  // Its address can be sent to a colleague.
  await page.reload();
  await shows(page, 'over the fleet');
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.getByText('you type').waitFor();
  await page.keyboard.type('\n');
  await page.getByText('ended', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Disconnect from fleet:build-7' }).click();
  await page.getByRole('heading', { name: 'Machines' }).waitFor();
  await machine.stop();
  await row.waitFor({ state: 'detached' });
});

test('a machine that lies about itself is shown as text, and leads nowhere else', async () => {
  const liar = await connect({ servers: cluster.urls });
  const hostile = '<img src=x onerror=globalThis.pwned=1>';
  const says = {
    name: 'liar',
    epoch: 1,
    labels: { [hostile]: `\u202e${'x'.repeat(100_000)}`, ['__proto__x']: hostile },
    version: hostile,
    state: 'ready',
    cores: -1,
    load: 1e300,
    sessions: 0,
    processes: -5,
    sandbox: hostile,
    seenAt: 0,
  };
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`l${index}`, 'x']));
  liar.subscribe('ew.default.who', {
    callback: (_error, message) => {
      // A description counts on the subject of its machine only, which not every name can be part of.
      const respond = (name: string, more: object): void => {
        const part = /^[^\s.*>]+$/.test(name) ? name : 'liar';
        liar.publish((message.reply ?? '').replace('~all', part), JSON.stringify({ ...says, ...more, name }));
      };
      for (const name of ['../api/links', 'a/b', 'javascript:1', hostile, 'local ', '']) respond(name, {});
      respond('wrong', { load: 'not a number' });
      respond('many', { labels: many });
      respond('liar', {});
      message.respond('nonsense');
    },
  });
  await page.goto(`${opened.origin}/#/`);
  const fleet = page.getByRole('region', { name: 'Fleet' });
  await fleet.getByText('2 machines').waitFor();
  await fleet.getByRole('row', { name: /^liar/ }).waitFor();
  expect(await fleet.getByRole('row').count()).toBe(3);
  expect(await fleet.locator('img').count()).toBe(0);
  expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
  expect(await fleet.locator('.badge').count()).toBeLessThan(20);
  // It answers for nobody: a connection goes to the machine of that name, and there is none.
  await fleet.getByRole('link', { name: 'liar' }).click();
  await page.getByText('No machine "liar" is in the fleet').waitFor();
  await page.getByRole('link', { name: 'Disconnect from fleet:liar' }).click();
  await liar.close();
});

test('a fleet that cannot be reached is said to be so, and the rest works', async () => {
  await page.goto(`${opened.origin}/#/`);
  const [node] = cluster.nodes;
  if (!node) throw new Error('there is no node');
  await cluster.kill(node);
  await page.getByRole('region', { name: 'Fleet' }).getByRole('status').waitFor();
  await page.getByRole('region', { name: 'Machine local' }).getByText('online').waitFor();
  await cluster.restart(node);
});
