import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { type ExecProcess, openEnvironment, type ProcessUsage } from '../../src/index.js';
import { bin, launch } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { diesKilling, DurableServer } from '../harness/durable-server.js';
import { printed } from '../harness/events.js';
import { reconnect } from '../harness/reconnect.js';
import { gone, pidsWithArgument, stubbornTree, TestFolder } from '../harness/processes.js';

const SLOW = { timeout: 90_000 };
const isRoot = process.getuid?.() === 0;
const CRASHING = fileURLToPath(new URL('../fixtures/crashing-server.cjs', import.meta.url));

const sh = (script: string): { argv: string[]; cwd: string } => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '/',
});

async function usageOf(program: ExecProcess): Promise<ProcessUsage | undefined> {
  for await (const event of program.events()) if (event.type === 'exited') return event.usage;
  return undefined;
}

function type(client: WireClient, processId: string, text: string, writeId: string): Promise<unknown> {
  return client.call('process/write', { processId, writeId, chunk: Buffer.from(text).toString('base64') });
}

describe('a server with a keeper', () => {
  test('that is killed while a program ends learns its true exit code', SLOW, async () => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const go = server.folder.file('go');
    const program = await environment.start(
      sh(`echo waiting; until [ -e ${go} ]; do sleep 0.01; done; echo last words; exit 33`),
    );
    await printed(program, 'waiting');
    server.kill();
    writeFileSync(go, '');
    const text = program.text();
    expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 33 });
    expect(await text).toBe('waiting\nlast words\n');
  });

  test('says what a program cost, whoever has seen it end', SLOW, async () => {
    await using server = await DurableServer.start();
    await using environment = await RemoteEnvironment.connect({
      id: 'durable',
      dial: () => dialWebSocket(server.url),
      resume: true,
      clientName: 'durable-test',
    });
    const work = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done';
    const goes = ['seen', 'missed'].map((name) => server.folder.file(name));
    const programs = await Promise.all(
      goes.map(async (go) => {
        const script = `${work}; echo worked; until [ -e ${go} ]; do sleep 0.01; done`;
        const program = await environment.start({ ...sh(script), reportUsage: true });
        await printed(program, 'worked');
        return program;
      }),
    );
    const [seen, missed] = programs;
    writeFileSync(goes[0] ?? '', '');
    await seen?.wait();
    server.kill();
    writeFileSync(goes[1] ?? '', '');
    await missed?.wait();
    const listed = await environment.listServer();
    for (const program of programs) {
      const usage = await usageOf(program);
      expect(usage).toMatchObject({ outputBytes: 'worked\n'.length });
      expect(usage?.userMs).toBeGreaterThan(20);
      const row = listed.find(({ processId }) => processId === program.processId);
      expect(row?.details).toMatchObject({
        usage,
        outputBytes: 'worked\n'.length,
        endedAtMs: expect.any(Number),
      });
      expect(row?.details).toMatchObject({ cwd: 'file:///', clientName: 'durable-test' });
    }
  });

  test('keeps what has ended readable, and what stays in the background running', SLOW, async () => {
    using folder = new TestFolder();
    const mark = `execwire-left-${process.pid}`;
    await using server = await DurableServer.start();
    const first = await reconnect(server.url);
    const sleeper = `echo > ${folder.file('ready')}; sleep 1000; :`;
    const script = `setsid sh -c '${sleeper}' ${mark} >/dev/null 2>&1 & echo over`;
    await first.call('process/start', startParams('p', ['/bin/sh', '-c', script]));
    await first.closedEvents('p');
    await folder.appears('ready');
    server.kill();
    const second = await reconnect(server.url, { resumeSessionId: first.id });
    expect(await second.call('process/read', { processId: 'p' })).toMatchObject({
      chunks: [{ seq: 1, stream: 'stdout', chunk: Buffer.from('over\n').toString('base64') }],
      nextSeq: 4,
      exited: true,
      closed: true,
    });
    expect(pidsWithArgument(mark).length).toBeGreaterThan(0);
    second.send('{"method":"session/end","params":{}}');
    await gone(mark);
  });

  test('tells auditors of a run once, whichever server began and ended it', SLOW, async () => {
    using folder = new TestFolder();
    const audit = folder.file('audit');
    await using server = await DurableServer.start({ args: ['--audit', audit] });
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ ...sh('echo before; cat'), pipeStdin: true });
    await printed(program, 'before');
    server.kill();
    await program.write('after\n');
    await program.closeStdin();
    await program.wait();
    const told = (): { event: string }[] =>
      readFileSync(audit, 'utf8')
        .split('\n')
        .flatMap((line) => (/"process(Started|Ended)"/.test(line) ? [JSON.parse(line)] : []));
    await expect
      .poll(told)
      .toMatchObject([{ event: 'processStarted' }, { event: 'processEnded', outputBytes: 13 }]);
  });

  test('does not type a repeated write twice, and passes the end of input on', SLOW, async () => {
    await using server = await DurableServer.start();
    const first = await reconnect(server.url);
    await first.call('process/start', startParams('p', ['cat'], { pipeStdin: true }));
    expect(await type(first, 'p', 'once\n', 'w1')).toEqual({ status: 'accepted' });
    await first.until(() => first.output('p').includes('once') || undefined);
    server.kill();
    const second = await reconnect(server.url, { resumeSessionId: first.id });
    expect(await type(second, 'p', 'once\n', 'w1')).toEqual({ status: 'accepted' });
    expect(await type(second, 'p', 'twice\n', 'w2')).toEqual({ status: 'accepted' });
    await second.call('process/closeStdin', { processId: 'p' });
    await second.closedEvents('p');
    const { chunks, exitCode } = (await second.call('process/read', { processId: 'p' })) as {
      chunks: { chunk: string }[];
      exitCode: number;
    };
    expect(chunks.map(({ chunk }) => Buffer.from(chunk, 'base64').toString()).join('')).toBe('once\ntwice\n');
    expect(exitCode).toBe(0);
  });

  test('remembers what was typed at a program that has ended, and tidies up behind it', SLOW, async () => {
    await using server = await DurableServer.start({ args: ['--session-ttl', '1'] });
    const first = await reconnect(server.url);
    await first.call('process/start', startParams('p', ['head', '-n', '1'], { pipeStdin: true }));
    expect(await type(first, 'p', 'all\n', 'w1')).toEqual({ status: 'accepted' });
    await first.closedEvents('p');
    server.kill();
    const second = await reconnect(server.url, { resumeSessionId: first.id });
    expect(await type(second, 'p', 'all\n', 'w1')).toEqual({ status: 'accepted' });
    expect(await type(second, 'p', 'more\n', 'w2')).toEqual({ status: 'stdinClosed' });
    const files = (): string[] => readdirSync(server.folder.file('state/input'));
    expect(files().length).toBe(2);
    second.close();
    await expect.poll(files, { timeout: 20_000 }).toEqual([]);
  });

  test('keeps processes with a lease, who types, and the size of a terminal', SLOW, async () => {
    await using server = await DurableServer.start();
    const first = await reconnect(server.url);
    const terminal = { lease: 'kept', tty: true, size: { rows: 30, cols: 100 } };
    await first.call('process/start', startParams('job', ['/bin/sh'], terminal));
    await first.call('process/resize', { processId: 'job', size: { rows: 40, cols: 120 } });
    await type(first, 'job', 'X=kept\n', 'w1');
    server.kill();
    const second = await reconnect(server.url, { resumeSessionId: first.id });
    expect(await second.call('process/keyboard', { processId: 'job', action: 'ask' })).toEqual({
      holds: true,
      free: false,
    });
    await type(second, 'job', 'echo $X $(stty size)\n', 'w2');
    await second.until(() => second.output('job').includes('kept 40 120') || undefined);
    const other = await reconnect(server.url);
    expect(await other.call('process/attach', { processId: 'job' })).toMatchObject({
      tty: true,
      lease: 'kept',
    });
    expect(await other.call('process/terminate', { processId: 'job' })).toEqual({ running: true });
    await other.closedEvents('job');
  });

  test('that is killed right after a program has timed out knows that it did', SLOW, async () => {
    await using server = await DurableServer.start({ env: diesKilling() });
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ argv: ['sleep', '1000'], cwd: '/', timeoutMs: 300 });
    expect(await program.wait()).toMatchObject({ kind: 'timedOut' });
  });

  test('a timeout goes on, too', SLOW, async () => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ ...sh('echo begun; sleep 1000'), timeoutMs: 4_000 });
    await printed(program, 'begun');
    server.kill();
    expect(await program.wait()).toMatchObject({ kind: 'timedOut' });
  });

  test.each([
    { when: 'told to', isKilled: false },
    { when: 'told to although its server has just died', isKilled: true },
  ])('ends everything when it is $when', SLOW, async ({ isKilled }) => {
    using folder = new TestFolder();
    const mark = `execwire-stop-${process.pid}`;
    const server = await DurableServer.start();
    const environment = await openEnvironment(server.url, { giveUpAfterMs: 1 });
    await environment.start(sh(stubbornTree(mark, folder.file('ready'))));
    await folder.appears('ready');
    if (isKilled) server.kill();
    expect(await server.keeper.stop()).toBe(0);
    await gone(mark);
    expect(existsSync(server.folder.file('state/journal'))).toBe(isKilled);
    await environment[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
});

describe('a keeper', () => {
  test('that is killed takes everything along, and the next one says what is lost', SLOW, async () => {
    using folder = new TestFolder();
    const mark = `execwire-orphan-${process.pid}`;
    const server = await DurableServer.start();
    const client = await reconnect(server.url);
    const script = `echo printed; ${stubbornTree(mark, folder.file('ready'))}`;
    await client.call('process/start', startParams('job', ['/bin/sh', '-c', script], { lease: 'kept' }));
    await folder.appears('ready');
    const serverPid = server.serverPid;
    await server.keeper.stop('SIGKILL');
    await gone(mark);
    expect(existsSync(`/proc/${serverPid}/fd/0`)).toBe(false);
    await using next = await DurableServer.start({ directory: server.folder.file('state') });
    const reader = await reconnect(next.url);
    expect(await reader.call('process/read', { processId: 'job' })).toMatchObject({
      exited: false,
      failure: 'The server ended before the process did; its output is known up to byte 8.',
    });
    await server[Symbol.asyncDispose]();
  });

  test('that is stopped for a while loses nothing', SLOW, async () => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ ...sh('cat; exit 5'), pipeStdin: true });
    signalOne(server.keeper.pid, 'SIGSTOP');
    try {
      await program.write('to a program whose keeper sleeps\n');
      await printed(program, 'sleeps');
      expect(await (await environment.start(sh('echo new'))).text()).toBe('new\n');
      await program.closeStdin();
      server.kill();
    } finally {
      signalOne(server.keeper.pid, 'SIGCONT');
    }
    expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
  });

  test('gives up on a server that dies of itself', SLOW, async () => {
    using folder = new TestFolder();
    const env = { NODE_OPTIONS: `--require ${CRASHING}` };
    const keeper = launch([process.execPath, bin, 'serve', '--durable', folder.file('state')], { env });
    keeper.stdout.resume();
    const said = keeper.stderr.setEncoding('utf8').toArray();
    const [code] = (await once(keeper, 'exit')) as [number];
    expect(code).toBe(1);
    expect((await said).join('')).toMatch(/giving up: the server died .* All its programs are ended\.\n$/);
  });

  test.each([
    { why: 'stdio', args: ['--durable', '/tmp/x', '--listen', 'stdio'], said: 'A client on stdio ends with' },
    { why: 'no disk', args: ['--durable', '/tmp/x', '--spool', 'off'], said: 'Remove --spool off' },
  ])('does not begin with $why', SLOW, async ({ args, said }) => {
    await expect(ServerProcess.start({ args })).rejects.toThrow(said);
  });

  test('takes directories below its own', SLOW, async () => {
    using folder = new TestFolder();
    const args = ['--durable', 'state', '--changes-dir', 'changes'];
    await using server = await ServerProcess.start({ args, cwd: folder.path });
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ ...sh('echo kept'), retain: 'disk' });
    expect(await program.text()).toBe('kept\n');
    expect(readdirSync(folder.file('state')).sort()).toEqual(['input', 'journal', 'lock', 'spool']);
  });

  test('does not share its directory', SLOW, async () => {
    await using server = await DurableServer.start();
    const again = ServerProcess.start({ args: ['--durable', server.folder.file('state')] });
    await expect(again).rejects.toThrow(
      '2 execwire: Another server uses the directory given with --durable.',
    );
  });
});

describe.skipIf(!isRoot)('on a full disk', () => {
  async function onSmallDisk(run: (server: DurableServer) => Promise<void>): Promise<void> {
    using folder = new TestFolder();
    const disk = folder.file('disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'execwire-test', disk]);
    try {
      await using server = await DurableServer.start({ directory: `${disk}/state` });
      await run(server);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  }

  test('output goes on, from memory', SLOW, async () => {
    await onSmallDisk(async (server) => {
      await using environment = await openEnvironment(server.url);
      const program = await environment.start(sh('seq 1 1000000; exit 3'));
      const text = await program.text();
      expect(text.split('\n').length).toBe(1_000_001);
      expect(await program.wait()).toMatchObject({ exitCode: 3 });
    });
  });

  test('what was only in memory is lost with the server, and nothing is invented', SLOW, async () => {
    const mark = `execwire-full-${process.pid}`;
    await onSmallDisk(async (server) => {
      await using environment = await openEnvironment(server.url);
      const argv = ['/bin/sh', '-c', 'seq 1 1000000; echo end; sleep 1000; :', mark];
      const other = await environment.start({ ...sh('echo first; cat; exit 4'), pipeStdin: true });
      await printed(other, 'first');
      const program = await environment.start({ argv, cwd: '/' });
      await printed(program, 'end');
      server.kill();
      expect(await program.wait()).toMatchObject({ kind: 'contactLost' });
      await other.closeStdin();
      expect(await other.wait()).toMatchObject({ exitCode: 4 });
      await gone(mark);
    });
  });
});
