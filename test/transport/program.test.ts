import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { ExecClient, RemoteEnvironment } from '../../src/client/index.js';
import { type ProgramOptions, startProgram } from '../../src/transport/index.js';
import { TestFolder } from '../harness/processes.js';
import { signalOne } from '../../testkit/signal-one.mjs';

const stub = fileURLToPath(new URL('../fixtures/exec-stub.mjs', import.meta.url));

async function open(
  quirk: string,
  options: Partial<ProgramOptions> & { initializeTimeoutMs?: number } = {},
): Promise<ExecClient> {
  const { initializeTimeoutMs = 10_000, ...rest } = options;
  const dial = () => startProgram({ program: process.execPath, args: [stub, quirk], ...rest });
  return await ExecClient.connect({ dial, resume: false, initializeTimeoutMs });
}

/** A killed process that nobody has reaped yet is dead all the same. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Collects lines and waits for one. */
class Lines {
  readonly all: string[] = [];
  readonly #waiting = new Set<() => void>();

  readonly add = (line: string): void => {
    this.all.push(line);
    for (const wake of this.#waiting) wake();
  };

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      for (const line of this.all) {
        const match = pattern.exec(line);
        if (match) return match;
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }
}

test('talks to a program over its standard streams', async () => {
  await using client = await open('plain');
  await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
});

test('a greeting before the first message is skipped with a warning', async () => {
  const warnings: string[] = [];
  await using client = await open('greeting', { onWarning: (message) => warnings.push(message) });
  await client.call('environment/status', null);
  expect(warnings).toEqual([
    'program node: skipped a line of 8 characters before the first message',
    'program node: skipped a line of 17 characters before the first message',
  ]);
});

test('a program that only babbles is given up', async () => {
  await expect(open('babble')).rejects.toMatchObject({
    code: 'connectionClosed',
    message: expect.stringContaining('does not speak the protocol'),
  });
});

test('anything but messages behind the first one breaks the protocol', async () => {
  await using client = await open('chatters');
  await expect(client.call('environment/status', null)).rejects.toMatchObject({
    code: 'connectionClosed',
    message: expect.stringContaining('something other than a message'),
  });
});

test('a program that dies in the handshake is reported with its status', async () => {
  await expect(open('dies')).rejects.toMatchObject({
    code: 'connectionClosed',
    message: 'The connection ended: the program ended with exit status 3.',
  });
});

test('a program that ends before it has read anything is reported with its status, too', async () => {
  const quick = { program: 'sh', args: ['-c', 'exec <&-; exit 3'] };
  const attempts = Array.from({ length: 10 }, () => open('', quick).catch((error: unknown) => error));
  for (const failure of await Promise.all(attempts))
    expect(failure).toMatchObject({ message: 'The connection ended: the program ended with exit status 3.' });
});

test('a program that never answers runs into the time limit and is ended', async () => {
  const stderr = new Lines();
  const opening = open('silent', { initializeTimeoutMs: 300, onStderr: stderr.add });
  await expect(opening).rejects.toMatchObject({ code: 'requestTimeout' });
});

test('a program that does not exist cannot be started, and the error keeps arguments to itself', async () => {
  const failure = await startProgram({ program: '/does/not/exist', args: ['--token', 'secret'] }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: 'notConnected', message: 'Cannot start program exist: ENOENT.' });
  expect(JSON.stringify(failure)).not.toContain('secret');
  await expect(startProgram({ program: 'bad\0name' })).rejects.toMatchObject({ code: 'notConnected' });
});

test('a program that is nowhere in PATH is missing, whatever else is in the way', async () => {
  using folder = new TestFolder();
  const [closed, misleading, denied] = [folder.file('closed'), folder.file('other'), folder.file('denied')];
  for (const directory of [closed, `${misleading}/tool`, denied]) mkdirSync(directory, { recursive: true });
  writeFileSync(`${denied}/tool`, '#!/bin/sh\n', { mode: 0o644 });
  chmodSync(closed, 0o600);
  const start = (...directories: string[]) =>
    startProgram({ program: 'tool', env: { PATH: directories.join(':') } });
  await expect(start(closed, misleading)).rejects.toMatchObject({ data: { reason: 'ENOENT' } });
  await expect(start(closed, denied)).rejects.toMatchObject({ data: { reason: 'EACCES' } });
});

test('what a program says on stderr arrives line by line, long lines in pieces', async () => {
  const stderr = new Lines();
  const client = await open('logs', { onStderr: stderr.add });
  await client.close();
  await stderr.until(/^third$/);
  // Node itself may have said something before.
  expect(stderr.all.slice(-5).map((line) => line.length)).toEqual([5, 8192, 8192, 20_007 - 2 * 8192, 5]);
});

test('a silent grandchild is gone when the channel is', async () => {
  const stderr = new Lines();
  const client = await open('family', { onStderr: stderr.add });
  const [, parent, child] = await stderr.until(/^pids (\d+) (\d+)$/);
  await client.close();
  expect([Number(parent), Number(child)].filter(isAlive)).toEqual([]);
});

test('a group that ignores SIGTERM is killed', async () => {
  const stderr = new Lines();
  const client = await open('ignores-term', { onStderr: stderr.add });
  const [, parent, child] = await stderr.until(/^pids (\d+) (\d+)$/);
  await client.close();
  expect([Number(parent), Number(child)].filter(isAlive)).toEqual([]);
});

test('a program that ends by itself takes processes and calls along', async () => {
  await using environment = await RemoteEnvironment.connect({
    id: 'program',
    dial: () =>
      startProgram({
        program: process.execPath,
        args: [bin, 'serve', '--listen', 'stdio', '--log-level', 'silent'],
      }),
    resume: false,
  });
  const shell = await environment.start({ argv: ['/bin/sh', '-c', 'echo $PPID; exec sleep 1000'] });
  const lines = shell.lines();
  const { value: server } = await lines.next();
  signalOne(Number(server), 'SIGKILL');
  expect(await shell.wait()).toMatchObject({ kind: 'contactLost' });
  await expect(environment.start({ argv: ['/bin/true'] })).rejects.toMatchObject({
    code: 'connectionClosed',
  });
});
