// Needs: nats-server
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommandLine } from '../../testkit/command-line.mjs';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const TOKEN = 'a-token-of-sufficient-length';

let cluster: NatsCluster;
let where: string;
let machine: ServerProcess;
beforeAll(async () => {
  cluster = await NatsCluster.start();
  where = cluster.urls.join(',');
  machine = await join('build-7', '--label', 'gpu=a100', '--job-slots', '1');
});
afterAll(async () => {
  await machine.stop();
  await cluster.stop();
});

async function join(name: string, ...args: string[]): Promise<ServerProcess> {
  return await ServerProcess.start({ args: ['--fleet', where, '--insecure', '--name', name, ...args] });
}

async function execwire(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return await new CommandLine(args, { EXECWIRE_FLEET: where }).result();
}

test('a machine that joins says under which name it is reached', () => {
  expect(machine.url).toBe('fleet:build-7');
});

test('a command runs on a machine by its name, with its exit code', async () => {
  const result = await execwire('run', '-e', 'fleet:build-7', '--', 'sh', '-c', 'echo hi; exit 3');
  expect(result).toMatchObject({ code: 3, stdout: 'hi\n' });
});

test('a command runs on a machine by its labels', async () => {
  const result = await execwire('run', '-e', 'fleet:?gpu=a100&os=linux&!spot', '--', 'echo', 'hi');
  expect(result).toMatchObject({ code: 0, stdout: 'hi\n' });
});

test('an unknown machine and labels that nobody has are refused with the reason', async () => {
  const named = await execwire('run', '-e', 'fleet:build-8', '--', 'true');
  expect(named.stderr).toBe('execwire: No machine "build-8" is in the fleet; see `execwire fleet ls`.\n');
  const labelled = await execwire('run', '-e', 'fleet:?gpu=h100', '--', 'true');
  expect(labelled.stderr).toBe(
    'execwire: None of 1 machines matches "gpu=h100": no machine meets gpu=h100.\n',
  );
});

test('without a fleet in the configuration, the error says how to name one', async () => {
  const result = await new CommandLine(['run', '-e', 'fleet:build-7', '--', 'true'], {
    EXECWIRE_FLEET: '',
  }).result();
  expect(result.stderr).toMatch(
    /^execwire: No fleet is configured\. Set EXECWIRE_FLEET to nats:\/\/HOST:PORT/,
  );
});

test('a machine does not join servers that ask nobody for credentials, unless told to', async () => {
  const result = await new CommandLine(['serve', '--fleet', where, '--name', 'open']).result();
  expect(result.code).toBe(2);
  expect(result.stderr).toMatch(/do not require credentials.*fleet init/);
});

test('the relay reaches a machine of the fleet', async () => {
  const relay = new CommandLine(['connect', 'fleet:build-7'], { EXECWIRE_FLEET: where });
  relay.child.stdin.write('{"id":1,"method":"initialize","params":{"clientName":"t"}}\n');
  await relay.says('"sessionId"');
  relay.child.stdin.end();
  expect((await relay.result()).code).toBe(0);
});

test('an app server runs commands on a machine of the fleet', async () => {
  const server = new CommandLine(['app-server', '-e', 'fleet:?gpu=a100'], { EXECWIRE_FLEET: where });
  const say = (message: object): boolean => server.child.stdin.write(`${JSON.stringify(message)}\n`);
  say({ id: 1, method: 'initialize', params: { clientInfo: { name: 't', version: '1' } } });
  say({ method: 'initialized' });
  say({ id: 2, method: 'command/exec', params: { command: ['sh', '-c', 'echo here; exit 3'] } });
  await server.says('"id":2');
  server.child.stdin.end();
  expect((await server.result()).stdout).toMatch(/"exitCode":3,"stdout":"here\\n"/);
});

test('a machine that is killed is gone for its clients within 5 s', async () => {
  const victim = await join('victim');
  const run = new CommandLine(['run', '-e', 'fleet:victim', '--', 'sh', '-c', 'echo ready; sleep 1000'], {
    EXECWIRE_FLEET: where,
  });
  await run.says('ready');
  const relay = new CommandLine(['connect', 'fleet:victim'], { EXECWIRE_FLEET: where });
  relay.child.stdin.write('{"id":1,"method":"initialize","params":{"clientName":"t"}}\n');
  await relay.says('"sessionId"');
  const begun = performance.now();
  await victim.stop('SIGKILL');
  const { stderr } = await relay.result();
  expect(stderr).toMatch(/the other side has left the bus/);
  expect(performance.now() - begun).toBeLessThan(6000);
  run.child.kill('SIGKILL');
  await run.result();
});

test('a machine that stood still while another one took its name gives way when it goes on', async () => {
  const first = await join('twice');
  first.child.kill('SIGSTOP');
  await using second = await join('twice');
  // It ends by itself, and with an error, which its supervisor sees.
  expect(await first.stop('SIGCONT')).toBe(1);
  expect(first.stderr).toMatch(/another machine has taken this name/);
  expect(second.isAlive).toBe(true);
  expect((await execwire('run', '-e', 'fleet:twice', '--', 'echo', 'hi')).stdout).toBe('hi\n');
});

test('fleet ls, info, cordon, uncordon and drain', async () => {
  expect((await execwire('fleet', 'ls', 'gpu=a100')).stdout).toMatch(
    /^NAME +STATE +LABELS.*\nbuild-7 +ready +os=linux,arch=\w+,gpu=a100 /,
  );
  expect(await execwire('fleet', 'ls', 'gpu=h100')).toMatchObject({
    stdout: expect.stringMatching(/^NAME[^\n]*\n$/),
    stderr: expect.stringMatching(/matches "gpu=h100": no machine meets gpu=h100\.\n$/),
  });
  expect(JSON.parse((await execwire('fleet', 'info', 'build-7', '--json')).stdout)).toMatchObject({
    name: 'build-7',
    state: 'ready',
  });
  expect((await execwire('fleet', 'cordon', 'build-7')).stdout).toBe('build-7 is cordoned\n');
  expect((await execwire('run', '--on', 'gpu', '--', 'true')).code).toBe(125);
  expect((await execwire('fleet', 'drain', 'build-7')).stdout).toBe(
    'build-7 starts nothing new; 0 processes are running\nbuild-7 is drained\n',
  );
  const refused = await execwire('run', '-e', 'fleet:build-7', '--', 'true');
  expect(refused.stderr).toMatch(/This machine is being drained/);
  expect((await execwire('fleet', 'uncordon', 'build-7')).stdout).toBe('build-7 is ready\n');
});

test('drain waits for a machine that is busy, and says so if one is gone before everything has ended', async () => {
  const busy = await join('busy');
  const run = new CommandLine(['run', '-e', 'fleet:busy', '--', 'sh', '-c', 'echo ready; sleep 1000'], {
    EXECWIRE_FLEET: where,
  });
  await run.says('ready');
  const drain = new CommandLine(['fleet', 'drain', 'busy'], { EXECWIRE_FLEET: where });
  await drain.says('busy starts nothing new; 1 process is running');
  await busy.stop('SIGKILL');
  expect(await drain.result()).toMatchObject({
    code: 1,
    stdout: 'busy starts nothing new; 1 process is running\n',
    stderr: expect.stringMatching(/busy left the fleet before everything that ran there had ended/),
  });
  run.child.kill('SIGKILL');
  await run.result();
});

test('a program on all machines that match: prefixed lines, a summary and one exit code', async () => {
  await using other = await join('build-10', '--label', 'gpu=h100');
  expect(other.url).toBe('fleet:build-10');
  expect((await execwire('run', '--on', 'gpu', '--all', '--dry-run', '--', 'x')).stdout).toBe(
    'build-10\nbuild-7\n',
  );
  const said = await execwire(
    'run',
    '--on',
    'gpu',
    '--all',
    '--',
    'sh',
    '-c',
    'echo one; printf two; exit 4',
  );
  expect(said.stdout.split('\n').toSorted()).toEqual([
    '',
    'build-10 | one',
    'build-10 | two',
    'build-7  | one',
    'build-7  | two',
  ]);
  expect(said.stderr).toMatch(/^2 of 2 exited with 4: build-(10|7), build-(10|7)\n$/);
  expect(said.code).toBe(4);
  const tooMany = await execwire('run', '--on', 'gpu', '--all', '--max-machines', '1', '--', 'true');
  expect(tooMany.code).toBe(2);
  expect(tooMany.stderr).toMatch(/matches 2 machines, more than --max-machines 1/);
  const none = await execwire('run', '--on', 'gpu=none', '--all', '--', 'true');
  expect(none.code).toBe(125);
  expect(none.stderr).toMatch(/no machine meets gpu=none/);
});

test('fleet ls --registry answers from the registry', async () => {
  await expect
    .poll(async () => (await execwire('fleet', 'ls', '--registry', 'gpu=a100')).stdout, { timeout: 20_000 })
    .toMatch(/^NAME +STATE +LABELS.*\nbuild-7 +ready /);
});

test('job submit, wait, logs, info, ls, cancel and retry', async () => {
  const script = 'echo "$WORD"; echo bad >&2; exit 3';
  const flags = ['--on', 'gpu', '--name', 'try it', '--env', 'WORD=hello'];
  const submitted = await execwire('job', 'submit', ...flags, '--', 'sh', '-c', script);
  expect(submitted).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^[0-9a-f]{10}\n$/) });
  const id = submitted.stdout.trim();
  expect(await execwire('job', 'wait', id)).toMatchObject({ code: 3, stderr: `${id} exited with 3\n` });
  expect(await execwire('job', 'logs', '-f', id)).toMatchObject({
    code: 0,
    stdout: 'hello\n',
    stderr: 'bad\n',
  });
  expect((await execwire('job', 'info', id)).stdout).toMatch(
    new RegExp(`^id +${id}\\nstate +exited with 3\\n[^]*machine +build-7\\n[^]*name +try it\\n`),
  );
  expect((await execwire('logs', '-e', 'fleet:build-7', `job-${id}-1`)).stdout).toBe('hello\n');
  const waiting = (await execwire('job', 'submit', '--on', 'gpu=h100', '--', 'true')).stdout.trim();
  expect(JSON.parse((await execwire('job', 'info', waiting, '--json')).stdout)).toMatchObject({
    state: 'queued',
    waits: 'None of 1 machines matches "gpu=h100": no machine meets gpu=h100.',
  });
  expect((await execwire('job', 'cancel', waiting)).stdout).toBe(`${waiting} is cancelled\n`);
  expect((await execwire('job', 'ls')).stdout).toMatch(
    new RegExp(`${id} +exited with 3 +gpu +build-7 +1 +0 +\\d+s +try it\\n${waiting} +cancelled`),
  );
  expect((await execwire('job', 'retry', id)).stdout).toBe(`${id} is queued\n`);
  expect((await execwire('job', 'wait', id)).code).toBe(3);
  const unknown = await execwire('job', 'wait', 'nothing');
  expect(unknown.stderr).toBe('execwire: No job "nothing" is known; see `execwire job ls`.\n');
}, 60_000);

test('machines that dial the registry of a gateway are listed beside those of the fleet', async () => {
  using folder = new TestFolder();
  const tokens = [
    '[[executors]]',
    'name = "pc"',
    `token_sha256 = "${createHash('sha256').update(TOKEN).digest('hex')}"`,
    'environments = ["pc-*"]',
  ];
  writeFileSync(folder.file('registry.toml'), tokens.join('\n'));
  writeFileSync(folder.file('token'), TOKEN, { mode: 0o600 });
  const registry = ['--registry', folder.file('registry.toml')];
  const gateway = await ServerProcess.start({
    command: 'gateway',
    args: ['--fleet', where, '--insecure', ...registry],
  });
  const remote = ['--remote', gateway.url.replace('ws', 'http'), '--environment-id', 'pc-1'];
  const pc = await ServerProcess.start({ args: [...remote, '--remote-token-file', folder.file('token')] });
  try {
    const listed = (): Promise<{ stdout: string }> => execwire('fleet', 'ls', 'name=build-7|pc-1');
    await expect
      .poll(async () => (await listed()).stdout, { timeout: 20_000 })
      .toMatch(/^NAME .*\nbuild-7 +ready .*\npc-1 +connected +remote,gateway=\S+ +- +- +- +- +\S+ +now\n$/);
    const { stdout } = await execwire('fleet', 'info', 'pc-1');
    expect(stdout).toMatch(/^name +pc-1\nstate +connected\n/);
    expect(stdout).toMatch(/^clients +0$/m);
  } finally {
    await pc.stop();
    await gateway.stop();
  }
});

test('a registry serves its machines even if no NATS server can be reached', async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('registry.toml'), 'executors = []\nclients = []\n');
  const fleetThere = ['--fleet', 'nats://127.0.0.1:1', '--insecure'];
  const gateway = await ServerProcess.start({
    command: 'gateway',
    args: [...fleetThere, '--registry', folder.file('registry.toml')],
  });
  try {
    await gateway.saysOnStderr(/(cannot tell the fleet about the machines of the registry yet)/);
  } finally {
    await gateway.stop();
  }
});
