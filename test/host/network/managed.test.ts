// Needs: curl, bwrap
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type NetworkUse, ProcessTable } from '../../../src/host/index.js';
import type { Decided } from '../../../src/host/network/index.js';
import type { Sandbox } from '../../../src/protocol/index.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const SANDBOX: Sandbox = {
  permissions: {
    type: 'managed',
    file_system: {
      type: 'restricted',
      entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
    },
    network: 'enabled',
  },
};

function openTable(): ProcessTable {
  const table = new ProcessTable();
  opened.push(() => table.close());
  return table;
}

/** A site of somebody else: what this process itself listens on is out of reach. */
async function startSite(answer = 'hello'): Promise<number> {
  const script = `require('http').createServer((_, r) => r.end(${JSON.stringify(answer)})).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  opened.push(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(line.toString());
}

async function run(table: ProcessTable, script: string, network: NetworkUse, sandbox = SANDBOX) {
  const process = await table.startConfined(
    {
      argv: ['/bin/bash', '-c', script],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdin: 'null',
      terminal: null,
      network,
    },
    sandbox,
  );
  process.stopHolding();
  const end = await process.wait();
  const { chunks } = await process.read();
  const text = (stream: string) =>
    Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ bytes }) => bytes)).toString();
  return {
    exitCode: 'exitCode' in end ? end.exitCode : null,
    stdout: text('stdout'),
    stderr: text('stderr'),
  };
}

const allow = (...hosts: string[]): NetworkUse => ({ rules: { allow: hosts, deny: [] } });

describe.each([
  ['restricted files', SANDBOX],
  ['nothing else to enforce', { permissions: { type: 'disabled' } }],
] satisfies [string, Sandbox][])('a managed network with %s', (_name, sandbox) => {
  test('leads to what is allowed, through the usual variables', async () => {
    const port = await startSite();
    const { stdout } = await run(
      openTable(),
      `curl -sS http://127.0.0.1:${port}`,
      allow(`127.0.0.1:${port}`),
      sandbox,
    );
    expect(stdout).toBe('hello');
  });

  test('and nowhere else, by no other way', async () => {
    const port = await startSite();
    const decided: Decided[] = [];
    const network = { ...allow('other.example'), onDecided: (each: Decided) => decided.push(each) };
    const script = `
      curl -sS -o /dev/null -w '%{http_code} ' http://example.com/
      curl -sS --noproxy '*' http://127.0.0.1:${port} >/dev/null 2>&1 || echo refused
      (exec 3<>/dev/tcp/192.0.2.1/80) 2>&1 | head -1
      cut -d: -f1 -s /proc/net/dev | tr -d ' '`;
    const { stdout } = await run(openTable(), script, network, sandbox);
    expect(stdout.split('\n').map((line) => line.replace(/^.*bash: /, ''))).toEqual([
      '403 refused',
      'connect: Network is unreachable',
      'lo',
      '',
    ]);
    expect(decided).toMatchObject([{ request: { host: 'example.com', port: 80 }, reason: 'not_allowed' }]);
  });
});

test('each program has its own rules', async () => {
  const table = openTable();
  const [one, two] = [await startSite('one'), await startSite('two')];
  const outcomes = await Promise.all(
    [one, two].map((port) =>
      run(
        table,
        `for site in ${one} ${two}; do curl -sS http://127.0.0.1:$site | head -c 3; echo; done`,
        allow(`127.0.0.1:${port}`),
      ),
    ),
  );
  expect(outcomes.map(({ stdout }) => stdout.split('\n'))).toEqual([
    ['one', expect.stringContaining('{'), ''],
    [expect.stringContaining('{'), 'two', ''],
  ]);
});

test('a server of one program answers another one of the same owner', async () => {
  const table = openTable();
  const server = await table.startConfined(
    {
      argv: [
        process.execPath,
        '-e',
        `require('http').createServer((_, r) => r.end('inside')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`,
      ],
      cwd: '/',
      env: {},
      stdin: 'null',
      terminal: null,
      network: allow(),
    },
    SANDBOX,
  );
  server.stopHolding();
  let said = '';
  for await (const event of server.events()) {
    if (event.type === 'output') said += Buffer.from(event.bytes).toString();
    if (said.includes('\n')) break;
  }
  const { stdout } = await run(table, `curl -sS http://127.0.0.1:${said.trim()}`, allow());
  expect(stdout).toBe('inside');
  const elsewhere = await run(openTable(), `curl -sS http://127.0.0.1:${said.trim()}`, allow());
  expect(elsewhere.exitCode).not.toBe(0);
});

test('nobody leaves by the way of a program that may do more', async () => {
  const table = openTable();
  const port = await startSite();
  const script = 'echo "$HTTP_PROXY"; read -r _';
  const lucky = await table.startConfined(
    {
      argv: ['/bin/sh', '-c', script],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdin: 'pipe',
      terminal: null,
      network: allow(`127.0.0.1:${port}`),
    },
    SANDBOX,
  );
  lucky.stopHolding();
  await expect.poll(async () => (await lucky.read()).chunks.length).toBe(1);
  const [chunk] = (await lucky.read()).chunks;
  const proxy = Buffer.from(chunk?.bytes ?? [])
    .toString()
    .trim();
  const theft = `curl -sS -x ${proxy} http://127.0.0.1:${port}`;
  expect((await run(table, theft, allow())).stdout).toBe('');
  // The way is there, for whoever may go it.
  expect(await run(table, theft, allow(`127.0.0.1:${port}`))).toMatchObject({ stdout: 'hello' });
});

test('networks of many rules do not add up', async () => {
  const table = openTable();
  for (let round = 0; round < 8; round += 1) await run(table, 'true', allow(`host-${round}.example`));
  const held = readdirSync('/proc/self/fd').length;
  for (let round = 8; round < 12; round += 1) await run(table, 'true', allow(`host-${round}.example`));
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(held + 4);
});

test('our own doors stay closed, even if somebody allows them by name', async () => {
  // It belongs to this very process, as the door of a server does.
  const door = createServer((_request, response) => void response.end('in'));
  await once(door.listen(0, '127.0.0.1'), 'listening');
  opened.push(() => door.close());
  const { port } = door.address() as AddressInfo;
  const { stdout } = await run(openTable(), `curl -sS http://127.0.0.1:${port}`, allow('127.0.0.1'));
  expect(JSON.parse(stdout)).toMatchObject({ status: 'blocked', reason: 'not_allowed_local' });
});
