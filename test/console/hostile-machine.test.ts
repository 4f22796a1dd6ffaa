// Needs: chromium
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { expect, test } from 'vitest';
import { BrowserConsole } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

/** Markup, the end of an attribute, a title for a terminal, and characters that turn text around. */
const EVIL = '"><img src=x onerror=globalThis.pwned=1>\u202e\u001b]0;x\u0007';
const URI = `file:///${encodeURIComponent(EVIL)}`;

const INFO = {
  shell: { name: EVIL, path: EVIL },
  cwd: URI,
  userHomeDir: URI,
  platformOs: EVIL,
  executorVersion: `${EVIL}+${EVIL}`,
  sandbox: { level: 'none', hint: EVIL },
};
const CHANGE = { path: URI, kind: 'modified', type: 'file', size: 1, baseSize: 1, conflict: true };
const COUNTS = { created: 0, modified: 1, deleted: 0 };
const PORT = { port: 80, address: EVIL, pid: 1, processId: EVIL, sandboxed: true };

const ANSWERS: Readonly<Record<string, unknown>> = {
  initialize: {
    sessionId: EVIL,
    environmentInfo: INFO,
    capabilities: {
      processList: true,
      serverProcesses: true,
      processDetails: true,
      usage: true,
      ports: true,
      changes: true,
      watch: true,
    },
  },
  'environment/info': INFO,
  'environment/status': { status: 'ready' },
  'environment/usage': {
    cpus: 0,
    loadAverage: [],
    memoryBytes: 0,
    availableBytes: 9e15,
    uptimeMs: 0,
    serverBytes: 0,
    serverCpuMs: 0,
  },
  'process/list': {
    processes: [
      {
        processId: EVIL,
        sessionId: EVIL,
        pid: -1,
        argv: [EVIL, 'x'.repeat(500_000)],
        tty: true,
        startedAtMs: 9e15,
        exited: true,
        exitCode: -1,
        closed: true,
        details: {
          cwd: URI,
          clientName: EVIL,
          sandboxType: 'none',
          recorded: true,
          endedAtMs: 0,
          signal: EVIL,
          timedOut: false,
          outputBytes: 9e15,
          waitsForInput: null,
        },
      },
    ],
  },
  'port/watch': { ports: [PORT] },
  'changes/sets': {
    sets: [{ changesId: EVIL, lease: 'kept', createdAtMs: 0, roots: [URI], running: 9e15 }],
  },
  'changes/list': { changes: [CHANGE], counts: COUNTS, cursor: null },
  'changes/diff': {
    diffs: [
      { path: URI, kind: 'modified', text: `--- a\n+++ b\n@@ -1 +1 @@\n-${EVIL}\n+${EVIL}\n`, omitted: null },
    ],
    cursor: EVIL,
  },
  'changes/apply': { applied: COUNTS, conflicts: [CHANGE] },
};

/** Answers what it likes, and everything else with an error full of markup. */
async function hostileMachine(): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id?: number; method: string };
      if (id === undefined) return;
      const error = { code: -32_603, message: EVIL, data: { code: EVIL } };
      socket.send(JSON.stringify(method in ANSWERS ? { id, result: ANSWERS[method] } : { id, error }));
    });
  });
  await once(server, 'listening');
  return server;
}

test('a machine that answers with markup stays text in every view, and harms no other', async () => {
  using folder = new TestFolder();
  const machine = await hostileMachine();
  const { port } = machine.address() as AddressInfo;
  writeFileSync(
    folder.file('environments.toml'),
    `[[environments]]\nid = "evil"\nurl = "ws://127.0.0.1:${port}"`,
  );
  const env = { EXECWIRE_HOME: folder.path };
  await using opened = await BrowserConsole.open(['console', '--log-level', 'silent'], env);
  const { page } = await opened.person();
  await page.getByRole('region', { name: 'Machine evil' }).getByText('online').waitFor();
  const process = encodeURIComponent(EVIL);
  const places = [
    ['evil/processes', '.table tbody tr'],
    [`evil/processes/${process}/${process}/live`, '.badge.bad'],
    [`evil/processes/${process}/${process}/output`, '.notice'],
    [`evil/processes/${process}/${process}/replay`, '.empty'],
    ['evil/files', '.empty'],
    ['evil/ports', '.table tbody tr'],
    ['evil/changes', '.table tbody tr'],
    [`evil/changes/${process}`, '.table tbody tr'],
    ['', '.chart'],
  ] as const;
  for (const [place, shown] of places) {
    await page.goto(`${opened.origin}/#/${place}`);
    await page.locator(`main ${shown}`).first().waitFor();
    const found = await page.locator('main img').count();
    expect({ place, found, pwned: await page.evaluate('globalThis.pwned') }).toEqual({
      place,
      found: 0,
      pwned: undefined,
    });
  }
  await page.goto(`${opened.origin}/#/evil/changes/${process}`);
  await page.locator('main .table button').first().click();
  await page.locator('.added', { hasText: 'onerror' }).waitFor();
  await page.getByRole('button', { name: 'Apply all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('heading', { name: 'Nothing was applied' }).waitFor();
  expect(await page.locator('main img, dialog img').count()).toBe(0);
  expect(await page.title()).not.toContain('\u202e');
  await page.goto(`${opened.origin}/#/`);
  await page.getByRole('region', { name: 'Machine local' }).getByText('online').waitFor();
  expect(opened.complaints).toEqual([]);
  machine.close();
  for (const client of machine.clients) client.terminate();
});
