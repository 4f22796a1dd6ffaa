import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/environment/index.js';
import { RemoteMachine } from '../../src/registry/index.js';
import { ExecServer } from '../../src/server/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const folder = new TestFolder();
const file = folder.file('registry.toml');
let gateway: ServerProcess;
let url: string;
let server: ExecServer;
let machine: RemoteMachine;
let joining: Promise<RemoteMachine>;
let lost: Promise<string>;

beforeEach(async () => {
  write(machineEntry, client('alice'), client('bob'));
  gateway = await ServerProcess.start({ command: 'gateway', args: ['--registry', file] });
  url = gateway.url.replace('ws', 'http');
  server = new ExecServer();
  const accept = server.accept.bind(server);
  const place = { url, environmentId: 'a', token: 'token-of-machine', accept };
  lost = new Promise((onLost) => {
    joining = RemoteMachine.join({ ...place, onLost });
  });
  machine = await joining;
});
afterEach(async () => {
  await machine.close();
  await server.close();
  await gateway.stop();
});

function entry(list: 'executors' | 'clients', name: string): string {
  const digest = createHash('sha256').update(`token-of-${name}`).digest('hex');
  return `[[${list}]]\nname = "${name}"\ntoken_sha256 = "${digest}"\nenvironments = ["a"]\n`;
}

const machineEntry = entry('executors', 'machine');
const client = (name: string): string => entry('clients', name);

function write(...entries: string[]): void {
  writeFileSync(file, entries.join('\n'));
}

/** Has the gateway read the file again, and waits until it says so. */
async function reload(says = /reloaded tokens/): Promise<void> {
  const before = gateway.stderr.length;
  gateway.child.kill('SIGHUP');
  await expect.poll(() => gateway.stderr.slice(before)).toMatch(says);
}

async function open(name: string): Promise<Environment> {
  return await openEnvironment(`${url}/cloud/environment/a`, { authBearerToken: `token-of-${name}` });
}

async function echo(environment: Environment): Promise<string> {
  return (await environment.run(['echo', 'hi'])).stdout;
}

const NOT_ACCEPTED = 'the token is not accepted';

test('SIGHUP lets new clients in and turns removed ones away; others notice nothing', async () => {
  await using bob = await open('bob');
  await using alice = await open('alice');
  const cat = await alice.start({ argv: ['cat'], pipeStdin: true });
  await expect(open('carol')).rejects.toThrow(NOT_ACCEPTED);
  write(machineEntry, client('bob'), client('carol'));
  await reload();
  await using carol = await open('carol');
  expect(await echo(carol)).toBe('hi\n');
  expect(await echo(bob)).toBe('hi\n');
  await expect(open('alice')).rejects.toThrow(NOT_ACCEPTED);
  // She was in the middle of something.
  expect(await cat.wait()).toMatchObject({ kind: 'contactLost' });
  expect(gateway.stderr.split('a machine has registered')).toHaveLength(2);
});

test('a broken file changes nothing', async () => {
  await using bob = await open('bob');
  writeFileSync(file, '[[clients]]\nname = 1\n');
  await reload(/nothing was reloaded/);
  expect(await echo(bob)).toBe('hi\n');
  await using alice = await open('alice');
  expect(await echo(alice)).toBe('hi\n');
});

test('a machine whose token was removed is out, and told so', async () => {
  write(client('bob'));
  await reload();
  expect(await lost).toContain(NOT_ACCEPTED);
  await expect(open('bob')).rejects.toMatchObject({ data: { status: 503 } });
});
