// Needs: openssl, time
import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { openEnvironment } from '../../src/environment/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { makeCertificate } from '../harness/certificate.js';
import { TestFolder } from '../harness/processes.js';

// Each test starts several programs, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const TOKEN = 'a-token-that-is-long-enough';
const SECRET = 'hunter2-do-not-print';

const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const tokenArgs = (folder: TestFolder): string[] => [
  '--ws-auth',
  'capability-token',
  '--ws-token-file',
  folder.file('token'),
];

describe('the log and the audit file', () => {
  test('tell who did what, without arguments or environment', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), TOKEN);
    writeFileSync(folder.file('wrong'), `${TOKEN}-not`);
    await using server = await ServerProcess.start({
      args: ['--audit', folder.file('audit'), ...tokenArgs(folder)],
    });
    const use = (token: string, ...command: string[]): ReturnType<typeof execwire> =>
      execwire([
        'run',
        '-e',
        server.url,
        '--token-file',
        folder.file(token),
        '--env',
        `S=${SECRET}`,
        '--',
        ...command,
      ]);
    expect((await use('wrong', 'true')).code).toBe(125);
    expect((await use('token', 'sh', '-c', 'echo output; exit 3', SECRET)).code).toBe(3);
    expect((await use('token', 'no-such-program', SECRET)).code).toBe(127);
    await server.saysOnStderr(/process ended/);
    await expect
      .poll(() => linesOf(folder.file('audit')).filter(({ event }) => event === 'sessionEnded').length)
      .toBe(2);
    const events = linesOf(folder.file('audit'));
    const kinds = events.map(({ event }) => event);
    expect(kinds[0]).toBe('loginRefused');
    expect(kinds.slice(1, 4)).toEqual(['sessionOpened', 'startRequested', 'processStarted']);
    const [refusal] = events;
    expect(refusal).toMatchObject({
      status: 401,
      reason: 'invalid websocket bearer token',
      peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
    const requested = events.find(({ event }) => event === 'startRequested');
    expect(requested).toMatchObject({
      program: 'sh',
      argumentCount: 3,
      who: expect.stringMatching(/^token:[0-9a-f]{8}$/),
    });
    const ended = events.find(({ event }) => event === 'processEnded');
    expect(ended).toMatchObject({
      exitCode: 3,
      signal: null,
      outputBytes: 7,
      usage: { outputBytes: 7 },
      session: requested?.session,
    });
    expect(events.find(({ event }) => event === 'startRefused')).toMatchObject({
      program: 'no-such-program',
      reason: 'spawnFailed',
    });
    expect(events.find(({ event }) => event === 'sessionEnded')).toMatchObject({
      reason: 'ended by its client',
      durationMs: expect.any(Number),
    });
    expect(statSync(folder.file('audit')).mode & 0o777).toBe(0o600);
    for (const text of [readFileSync(folder.file('audit'), 'utf8'), server.stderr]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(TOKEN);
    }
    expect(server.stderr).toMatch(/warning: refused a client peer=127\.0\.0\.1:\d+ status=401/);
    expect(server.stderr).toMatch(/process ended .*exitCode=3 .*durationMs=\d+/);
    expect(server.stderr).not.toContain('no-such-program');
  });

  test('arguments are written for whoever asks for them', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start({
      args: ['--audit', folder.file('audit'), '--audit-arguments', '--log-level', 'silent'],
    });
    await execwire(['run', '-e', server.url, '--', 'echo', 'one two']);
    expect(linesOf(folder.file('audit')).find(({ event }) => event === 'startRequested')).toMatchObject({
      argv: ['echo', 'one two'],
    });
  });

  test('a file that is none is refused, and a link is not followed', async () => {
    using folder = new TestFolder();
    symlinkSync(folder.file('elsewhere'), folder.file('link'));
    for (const path of [folder.file('no/such/place'), folder.file('link'), folder.path, '/dev/null']) {
      const { code, stderr } = await execwire(['serve', '--audit', path]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('audit file')]);
    }
    expect(existsSync(folder.file('elsewhere'))).toBe(false);
  });
});

describe('SIGHUP', () => {
  test('reads tokens and certificates again and drops nobody; a broken file changes nothing', async () => {
    using folder = new TestFolder();
    using other = new TestFolder();
    writeFileSync(folder.file('token'), TOKEN);
    const [cert, key] = makeCertificate(folder);
    const [nextCert, nextKey] = makeCertificate(other);
    await using server = await ServerProcess.start({
      args: ['--audit', folder.file('audit'), '--tls-cert', cert, '--tls-key', key, ...tokenArgs(folder)],
    });
    const ca = (file: string): { env: Record<string, string> } => ({ env: { NODE_EXTRA_CA_CERTS: file } });
    const use = async (token: string, file: string): Promise<number | null> => {
      writeFileSync(folder.file('mine'), token);
      const args = ['run', '-e', server.url, '--token-file', folder.file('mine'), '--', 'true'];
      return (await execwire(args, ca(file))).code;
    };
    expect(await use(TOKEN, cert)).toBe(0);
    const { hostname, port } = new URL(server.url.replace('wss:', 'https:'));
    const stays = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
    await once(stays, 'secureConnect');
    writeFileSync(folder.file('token'), `${TOKEN}-2`);
    writeFileSync(cert, readFileSync(nextCert));
    writeFileSync(key, readFileSync(nextKey));
    renameSync(folder.file('audit'), folder.file('audit.1'));
    signalOne(server.pid, 'SIGHUP');
    await server.saysOnStderr(/reloaded/);
    expect(await use(`${TOKEN}-2`, nextCert)).toBe(0);
    expect(await use(TOKEN, nextCert)).toBe(125);
    expect(linesOf(folder.file('audit')).length).toBeGreaterThan(0);
    expect(stays.destroyed).toBe(false);
    stays.destroy();
    writeFileSync(folder.file('token'), '');
    signalOne(server.pid, 'SIGHUP');
    await server.saysOnStderr(/nothing was reloaded/);
    expect(await use(`${TOKEN}-2`, nextCert)).toBe(0);
  });

  test('a session goes on', async () => {
    await using server = await ServerProcess.start();
    await using environment = await openEnvironment(server.url);
    const child = await environment.start({ argv: ['cat'], pipeStdin: true });
    signalOne(server.pid, 'SIGHUP');
    await server.saysOnStderr(/reloaded/);
    await child.write('still here');
    await child.closeStdin();
    expect(await child.text()).toBe('still here');
  });
});

/** Enough that telling them takes more than one turn. */
const CLIENTS = 24;

describe('SIGTERM', () => {
  test('asks programs to end, starts nothing new, and lets clients see the end', async () => {
    const server = await ServerProcess.start();
    const environment = await openEnvironment(server.url);
    const script = 'trap "echo bye; sleep 0.3; exit 7" TERM; echo ready; while :; do sleep 0.05; done';
    const child = await environment.start({ argv: ['sh', '-c', script] });
    const text = child.text();
    await expect.poll(async () => (await child.read()).chunks.length).toBeGreaterThan(0);
    const stopped = server.stop();
    await server.saysOnStderr(/shutting down/);
    await expect(environment.start({ argv: ['true'] })).rejects.toMatchObject({ code: 'machineDraining' });
    expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 7 });
    expect(await text).toBe('ready\nbye\n');
    expect(await stopped).toBe(0);
    await environment.close();
  });

  test('tells many clients at once how their programs ended, and that this is on purpose', async () => {
    const server = await ServerProcess.start();
    const log: string[] = [];
    const options = { onLog: (line: string) => log.push(line) };
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => openEnvironment(server.url, options)),
    );
    const children = await Promise.all(
      clients.flatMap((client) => [1, 2, 3, 4].map(() => client.start({ argv: ['sleep', '987'] }))),
    );
    const ends = children.map(async (child) => {
      const seen: string[] = [];
      for await (const { type } of child.events()) seen.push(type);
      return seen.join();
    });
    expect(await server.stop()).toBe(0);
    // Nobody looks for a server that said goodbye: a client that was not told the end would do that for 25 seconds.
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['exited,closed']));
    expect(log).toEqual(
      Array.from({ length: CLIENTS }, () => 'connection lost: the server is shutting down'),
    );
    await Promise.all(clients.map((client) => client.close()));
  });

  test('kills what does not listen after the grace period', async () => {
    const server = await ServerProcess.start({ args: ['--shutdown-grace', '300ms'] });
    await using environment = await openEnvironment(server.url);
    const child = await environment.start({
      argv: ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done'],
    });
    await expect.poll(async () => (await child.read()).chunks.length).toBeGreaterThan(0);
    const stopped = server.stop();
    expect(await child.wait()).toEqual({ kind: 'signalled', exitCode: 137, signal: 'SIGKILL' });
    expect(await stopped).toBe(0);
  });

  test('a second one hurries', async () => {
    const server = await ServerProcess.start({ args: ['--shutdown-grace', '1h'] });
    await using environment = await openEnvironment(server.url);
    const child = await environment.start({
      argv: ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done'],
    });
    await expect.poll(async () => (await child.read()).chunks.length).toBeGreaterThan(0);
    const stopped = server.stop();
    await server.saysOnStderr(/shutting down/);
    signalOne(server.pid, 'SIGTERM');
    expect(await child.wait()).toMatchObject({ kind: 'signalled' });
    expect(await stopped).toBe(0);
  });
});

describe('metrics', () => {
  test('are off unless asked for, and count what happens', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start({
      args: [
        '--metrics',
        '127.0.0.1:0',
        '--ws-auth',
        'capability-token',
        '--ws-token-file',
        tokenFile(folder),
      ],
    });
    const url = await server.saysOnStderr(/serving metrics url=(\S+)/);
    const run = (...command: string[]): ReturnType<typeof execwire> =>
      execwire(['run', '-e', server.url, '--token-file', folder.file('token'), '--', ...command]);
    await run('sh', '-c', 'echo 12345');
    await run('false');
    await run('no-such-program');
    await execwire(['run', '-e', server.url, '--', 'true']);
    const scrape = async (): Promise<string> => await (await fetch(url)).text();
    await expect.poll(scrape).toContain('execwire_processes_ended_total{end="failed"} 1');
    const text = await scrape();
    for (const line of [
      'execwire_processes_ended_total{end="succeeded"} 1',
      'execwire_processes_started_total{sandbox="none"} 2',
      'execwire_starts_refused_total{reason="spawnFailed"} 1',
      'execwire_logins_refused_total{status="401"} 1',
      'execwire_sessions_opened_total{kind="opened"} 3',
      'execwire_output_bytes_total 6',
      'execwire_processes 0',
      'execwire_unsent_bytes 0',
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).toMatch(/execwire_request_duration_seconds_count\{method="process\/start"\} [23]\n/);
    expect(text).toContain('process_cpu_seconds_total');
    const at = (path: string): string => new URL(path, url).href;
    const any = { headers: { host: 'any.name.example' } };
    expect((await fetch(at('/healthz'), any)).status).toBe(200);
    expect((await fetch(at('/'))).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    // The server's own port tells nothing.
    expect((await fetch(`${server.url.replace('ws:', 'http:')}/metrics`)).status).toBe(404);
  });

  test('an address that cannot be used is an error', async () => {
    for (const address of ['9464', 'localhost:1', '127.0.0.1:99999']) {
      const { code, stderr } = await execwire(['serve', '--metrics', address]);
      expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/metrics/)]);
      expect(code).not.toBe(0);
    }
  });
});

function tokenFile(folder: TestFolder): string {
  writeFileSync(folder.file('token'), TOKEN);
  return folder.file('token');
}

describe('what a process cost', () => {
  const BUSY =
    'const end = process.cpuUsage().user + 1.5e5; const b = Buffer.alloc(5e7, 1); while (process.cpuUsage().user < end); console.log(b.length)';

  test('is in `exited` for those who ask, here and there, and in the details of the list', async () => {
    await using server = await ServerProcess.start();
    for (const target of ['local', server.url]) {
      await using environment = await openEnvironment(target);
      const child = await environment.start({ argv: [process.execPath, '-e', BUSY], reportUsage: true });
      let usage;
      for await (const event of child.events()) if (event.type === 'exited') usage = event.usage;
      expect(usage).toMatchObject({ outputBytes: 9 });
      expect(usage?.userMs).toBeGreaterThan(150);
      expect(usage?.peakMemoryBytes).toBeGreaterThan(5e7);
      const plain = await environment.start({ argv: ['true'] });
      for await (const event of plain.events()) expect(event).not.toHaveProperty('usage');
    }
  });

  test('agrees with GNU time, with descendants', async () => {
    const script = `"${process.execPath}" -e '${BUSY}'; true`;
    const timed = ['/usr/bin/time', '-f', 'known %U %S %M', 'sh', '-c', script];
    // Measured by both in one run: what GNU time itself takes is next to nothing.
    const { stderr } = await execwire(['run', '--stat', '--', ...timed]);
    const [, user, system, peak] = /known ([\d.]+) ([\d.]+) (\d+)/.exec(stderr) ?? [];
    const [, ourUser, ourSystem, ourPeak] =
      /([\d.]+) s user, ([\d.]+) s system, ([\d.]+) MB peak/.exec(stderr) ?? [];
    // GNU time cuts to hundredths of a second.
    const [known, ours] = [Number(user) + Number(system), Number(ourUser) + Number(ourSystem)];
    expect(Math.abs(ours - known)).toBeLessThan(0.03 + known * 0.05);
    expect(Math.abs(Number(ourPeak) * 1e6 - Number(peak) * 1024)).toBeLessThan(Number(peak) * 1024 * 0.05);
  });

  test('a small program is not said to have used what the server uses', async () => {
    const { stderr } = await execwire(['run', '--stat', '--', 'true']);
    expect(stderr).toMatch(/^execwire: [\d.]+ s elapsed, .* at most [\d.]+ MB peak memory, 0 B output\n$/);
  });
});
