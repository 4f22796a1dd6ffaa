import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { CommandLine } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { listening } from '../contract/ports.contract.js';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

/** What a program on a local port answers. */
async function ask(port: number, text: string): Promise<string> {
  const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(text);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** The ports that a running `forward` has announced. */
function announced(command: CommandLine): number[] {
  return [...command.bytes.toString().matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
}

describe('execwire forward', () => {
  test('several ports, one taken, until Ctrl-C', async () => {
    await using env = await openEnvironment(server.url);
    const plain = await listening(env);
    const confined = await listening(env, { sandbox: 'read-only' });
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const takenPort = typeof address === 'object' ? address?.port : 0;
    const mappings = [`:${plain.port}`, `${takenPort}:${confined.port}`];
    const forward = new CommandLine(['forward', '-e', server.url, ...mappings]);
    await forward.says(`to port ${confined.port} of`);
    const [first = 0, second = 0] = announced(forward);
    expect(await ask(first, 'plain')).toBe('plain');
    expect(await ask(second, 'confined')).toBe('confined');
    forward.child.kill('SIGINT');
    const { code, stderr } = await forward.result();
    expect(code).toBe(130);
    expect(stderr).toBe(`execwire: Port ${takenPort} is taken here, so ${second} is used instead.\n`);
    taken.close();
  });

  test('Ctrl-C ends connections that wait for an answer, without a complaint', async () => {
    const program = createServer({ allowHalfOpen: true });
    const asked = once(program, 'connection').then(async ([socket]: Socket[]) => {
      await once((socket as Socket).on('error', () => undefined).resume(), 'end');
      return socket as Socket;
    });
    program.listen(0, '127.0.0.1');
    await once(program, 'listening');
    const address = program.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const forward = new CommandLine(['forward', '-e', server.url, `:${port}`]);
    await forward.says('Forwarding');
    const answer = ask(announced(forward)[0] ?? 0, 'question').catch(() => '');
    const socket = await asked;
    forward.child.kill('SIGINT');
    expect(await forward.result()).toMatchObject({ code: 130, stderr: '' });
    expect(await answer).toBe('');
    // The program's connection breaks, too. It finds out when it answers.
    const answerAgain = (): void => {
      if (!socket.destroyed) socket.write('late', () => setImmediate(answerAgain));
    };
    answerAgain();
    await once(program.close(), 'close');
  });

  test('says why a connection was refused, once, and goes on', async () => {
    await using env = await openEnvironment(server.url);
    const { port, child } = await listening(env);
    await child.terminate();
    await child.wait();
    const forward = new CommandLine(['forward', '-e', server.url, `:${port}`]);
    await forward.says('Forwarding');
    const [local = 0] = announced(forward);
    for (let round = 0; round < 3; round += 1) await expect(ask(local, 'x')).rejects.toThrow();
    forward.child.kill('SIGTERM');
    const { stderr } = await forward.result();
    expect(stderr).toBe(`execwire: Nothing listens on port ${port}.\n`);
  });

  test.each(['x', '70000', '0', '80:', '1:2:3'])('%s is no port', async (text) => {
    const { code, stderr } = await new CommandLine(['forward', '-e', server.url, text]).result();
    expect(code).not.toBe(0);
    expect(stderr).toContain('Write 8080, 8080:3000, or :3000');
  });
});

test('execwire ports lists the processes of all sessions', async () => {
  await using env = await openEnvironment(server.url);
  const { port, child } = await listening(env, { sandbox: 'read-only' });
  const { stdout } = await new CommandLine(['ports', '-e', server.url]).result();
  expect(stdout).toMatch(/^PORT\s+ADDRESS\s+WHERE\s+PID\s+PROCESS\n/);
  expect(stdout).toMatch(
    new RegExp(`^${port}\\s+127\\.0\\.0\\.1\\s+sandbox\\s+\\d+\\s+${child.processId}$`, 'm'),
  );
  const json = await new CommandLine(['ports', '-e', server.url, '--json', '--all']).result();
  const rows = JSON.parse(json.stdout) as { port: number; processId: string | null }[];
  expect(rows).toContainEqual(expect.objectContaining({ port, processId: child.processId, sandboxed: true }));
  expect(rows.some(({ processId }) => processId === null)).toBe(true);
});
