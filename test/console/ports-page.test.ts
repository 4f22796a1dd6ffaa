// Needs: chromium
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { test, untilSeen } from '../harness/browser.js';

/** What a hostile program would have a browser do. Every line must fail; what comes of it is put where a test reads it. */
const ATTACK = `
  const found = {};
  const attempt = async (name, task) => {
    try { found[name] = await task(); } catch (error) { found[name] = 'failed'; }
  };
  const target = decodeURIComponent(location.hash.slice(1));
  const proofless = { credentials: 'include' };
  await attempt('opener', () => String(window.opener));
  await attempt('cookies', () => document.cookie);
  await attempt('storage', () => localStorage.getItem('execwire-proof'));
  await attempt('session', async () => (await fetch(target + '/api/session', proofless)).status);
  await attempt('page', async () => (await (await fetch(target + '/', proofless)).text()).length);
  await attempt('blind', async () => (await fetch(target + '/api/sign-out', { ...proofless, method: 'POST', mode: 'no-cors' })).type);
  await attempt('socket', () => new Promise((resolve) => {
    const socket = new WebSocket(target.replace('http', 'ws') + '/machines/local', ['execwire', 'proof.x']);
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('failed');
  }));
  await attempt('frame', () => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.onload = () => {
      try { resolve(frame.contentWindow.document.title); } catch { resolve('failed'); }
    };
    frame.src = target;
    document.body.append(frame);
  }));
  document.cookie = 'execwire-' + new URL(target).port + '=tossed; path=/';
  document.cookie = 'execwire-' + new URL(target).port + '=tossed; path=/api';
  document.querySelector('pre').textContent = JSON.stringify(found);
`;

async function hostileServer(): Promise<{ server: Server; port: number; cookies: string[] }> {
  const cookies: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    cookies.push(headers.cookie ?? '');
    const isScript = url === '/attack.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? ATTACK : '<title>dev</title><pre></pre><script type="module" src="/attack.js"></script>',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, cookies };
}

test('a port of a process is listed and opened in a tab of its own', async ({ page, agent, at }) => {
  const script =
    'require("http").createServer((q, s) => s.end("<h1>served " + q.headers.host + "</h1>")).listen(0, "127.0.0.1", function () { console.log(this.address().port) })';
  const child = await agent.start({
    argv: [process.execPath, '-e', script],
    processId: 'dev',
    lease: 'kept',
  });
  let text = '';
  for await (const line of child.lines()) {
    text = line;
    break;
  }
  await page.goto(at('ports'));
  const row = page.getByRole('row', { name: new RegExp(`^${text} `) });
  await row.getByRole('link', { name: /createServer/ }).waitFor();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    row.getByRole('button', { name: `Open port ${text}` }).click(),
  ]);
  await tab.getByRole('heading', { name: `served localhost:${text}` }).waitFor();
  expect(new URL(tab.url()).hostname).not.toBe('127.0.0.1');
  expect(tab.url()).not.toContain('.execwire');
  await row.getByRole('button', { name: `Close port ${text}` }).click();
  await row.getByRole('button', { name: `Close port ${text}` }).waitFor({ state: 'detached' });
  await tab.close();
  // The process itself shows it, too.
  await page.goto(at('processes/kept/dev/output'));
  await page.getByRole('button', { name: `Open port ${text}` }).waitFor();
  await child.terminate();
  await page.goto(at('ports'));
  await page.getByText('No process listens on a port.').waitFor();
});

test('what a port serves does not get at the console', async ({ page, opened, at }) => {
  const { server, port, cookies } = await hostileServer();
  await page.goto(at('ports'));
  await page.getByLabel('Also of other programs').check();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: `Open port ${port}`, exact: true }).click(),
  ]);
  await tab.waitForURL((url) => url.pathname === '/');
  await tab.goto(`${new URL(tab.url()).origin}/#${encodeURIComponent(opened.origin)}`);
  await tab.reload();
  await untilSeen(() => tab.locator('pre').textContent()).toContain('frame');
  expect(JSON.parse((await tab.locator('pre').textContent()) ?? '')).toEqual({
    opener: 'null',
    cookies: '',
    storage: null,
    session: 'failed',
    page: 'failed',
    blind: 'failed',
    socket: 'failed',
    frame: 'failed',
  });
  expect(cookies.join('')).not.toContain('execwire');
  // Neither its requests nor its cookies have signed us out.
  await page.reload();
  await page.getByRole('heading', { name: 'Ports' }).waitFor();
  await page.getByText('No process listens on a port.').waitFor();
  await tab.close();
  server.closeAllConnections();
  server.close();
});
