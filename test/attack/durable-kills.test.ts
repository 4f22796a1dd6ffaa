import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import type { Environment, ExecProcess } from '../../src/contract/index.js';
import { DurableServer, diesMovingOutput } from '../harness/durable-server.js';
import { limitMs, tally, tries } from './tally.js';

const KILLS = tries(2);
const LIMIT_MS = limitMs(60_000);
/** Enough that the program still runs when the last server is killed. */
const LINES_PER_KILL = 250_000;

/** What is typed between two deaths, at most twice. There are 300 lines and more for each. */
const TYPED_BYTES = 300;

/** What a client saw of a program that prints one number per line, from 1 on. */
interface Seen {
  readonly lines: number;
  /** Lines that were not the one behind the line before. */
  readonly wrong: number;
  readonly exitCode: number | null;
}

/** Reads numbered lines, and kills the server again and again while they come. */
async function readWhileKilling(
  server: DurableServer,
  program: ExecProcess,
  { kills = KILLS, began = (): void => undefined, pauseBytes = 100_000 } = {},
): Promise<Seen & { kills: number }> {
  let [rest, lines, wrong, killed, bytes] = ['', 0, 0, 0, 0];
  let exitCode: number | null = null;
  let due = 1;
  for await (const event of program.events()) {
    if (event.type === 'exited') exitCode = event.exitCode;
    if (event.type !== 'output') continue;
    bytes += event.bytes.length;
    began();
    const parts = (rest + Buffer.from(event.bytes).toString('latin1')).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (Number(part) !== lines + 1) wrong += 1;
      lines = Number(part);
    }
    // Not at once: the moment should have nothing to do with what the client does.
    if (killed < kills && bytes >= due) {
      killed += 1;
      due = bytes + 1 + (killed % 3) * pauseBytes;
      setTimeout(() => server.kill(), killed % 7);
    }
  }
  return { lines, wrong, exitCode, kills: killed };
}

async function withServer<Result>(
  run: (server: DurableServer, environment: Environment) => Promise<Result>,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  await using server = await DurableServer.start({ env });
  await using environment = await openEnvironment(server.url);
  return await run(server, environment);
}

const SIZE = { rows: 24, cols: 80 };

describe(`a server with a keeper that is killed ${KILLS} times`, () => {
  test.each([
    { where: 'a pipe', spec: {} },
    { where: 'a terminal', spec: { tty: true, size: SIZE } },
  ])('loses and doubles nothing of a flood from $where', { timeout: LIMIT_MS }, async ({ where, spec }) => {
    const count = KILLS * LINES_PER_KILL;
    const seen = await withServer(async (server, environment) => {
      const program = await environment.start({
        argv: ['/bin/sh', '-c', `seq 1 ${count}; exit 42`],
        cwd: '/',
        ...spec,
      });
      return await readWhileKilling(server, program);
    });
    expect(seen).toEqual({ lines: count, wrong: 0, exitCode: 42, kills: KILLS });
    tally(`durable output from ${where}`, { tries: KILLS, successes: 0 });
  });

  test('tells two streams apart, and has all of it on disk', { timeout: LIMIT_MS }, async () => {
    const count = KILLS * 20_000;
    const program = `BEGIN { for (i = 1; i <= ${count}; i++) { print i; print i > "/dev/stderr" } exit 6 }`;
    const seen = await withServer(async (server, environment) => {
      const started = await environment.start({ argv: ['awk', program], cwd: '/', retain: 'disk' });
      const output = { stdout: '', stderr: '', pty: '' };
      let [killed, onDisk] = [0, 0];
      let exitCode: number | null = null;
      for await (const event of started.events()) {
        if (event.type === 'exited') exitCode = event.exitCode;
        if (event.type !== 'output') continue;
        output[event.stream] += Buffer.from(event.bytes).toString('latin1');
        if (killed < KILLS && event.seq % 20 === 0) {
          killed += 1;
          setTimeout(() => server.kill(), killed % 5);
        }
      }
      for await (const entry of started.history()) if (entry.type === 'output') onDisk += entry.bytes.length;
      return { ...output, exitCode, onDisk };
    });
    const expected = Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
    expect(seen.stdout === expected).toBe(true);
    expect(seen.stderr === expected).toBe(true);
    expect(seen).toMatchObject({ exitCode: 6, onDisk: 2 * expected.length });
    tally('durable streams', { tries: KILLS, successes: 0 });
  });

  test('delivers every write once, in order', { timeout: LIMIT_MS }, async () => {
    const count = KILLS * 500;
    const seen = await withServer(async (server, environment) => {
      const program = await environment.start({
        argv: ['/bin/sh', '-c', 'cat; exit 7'],
        cwd: '/',
        pipeStdin: true,
      });
      const typing = (async () => {
        for (let line = 1; line <= count; line += 1) await program.write(`${line}\n`);
        await program.closeStdin();
      })();
      const result = await readWhileKilling(server, program, { pauseBytes: TYPED_BYTES });
      await typing;
      return result;
    });
    expect(seen).toEqual({ lines: count, wrong: 0, exitCode: 7, kills: KILLS });
    tally('durable writes', { tries: seen.kills, successes: 0 });
  });

  test('types every key at a terminal once, in order', { timeout: LIMIT_MS }, async () => {
    const count = KILLS * 300;
    const seen = await withServer(async (server, environment) => {
      const program = await environment.start({
        argv: ['/bin/sh', '-c', `stty raw -echo; echo 1; head -n ${count - 1}; exit 9`],
        cwd: '/',
        tty: true,
        size: SIZE,
      });
      let began = (): void => undefined;
      const isRaw = new Promise<void>((resolve) => {
        began = resolve;
      });
      const typing = (async () => {
        await isRaw;
        for (let line = 2; line <= count; line += 1) await program.write(`${line}\n`);
      })();
      const result = await readWhileKilling(server, program, { began, pauseBytes: TYPED_BYTES });
      await typing;
      return result;
    });
    expect(seen).toEqual({ lines: count, wrong: 0, exitCode: 9, kills: KILLS });
    tally('durable keys', { tries: seen.kills, successes: 0 });
  });

  test('that dies with output between a terminal and a file passes it on at once', {
    timeout: LIMIT_MS,
  }, async () => {
    const seen = await withServer(async (_, environment) => {
      const argv = ['/bin/sh', '-c', 'stty raw -echo; printf ready; read -r line; exit 5'];
      const program = await environment.start({ argv, cwd: '/', tty: true, size: SIZE });
      // The program says nothing more before it is answered.
      for await (const event of program.events()) {
        if (event.type === 'output') await program.write('\n');
        if (event.type === 'exited') return event.exitCode;
      }
      return null;
    }, diesMovingOutput('passage'));
    expect(seen).toBe(5);
  });

  test.each([
    { moves: 'kernel', isExact: true, what: 'loses nothing that the kernel has moved' },
    { moves: 'copy', isExact: false, what: 'is caught if it moves output itself' },
  ])('that dies of itself at the worst moment $what', { timeout: LIMIT_MS }, async ({ moves, isExact }) => {
    const seen = await withServer(async (server, environment) => {
      const program = await environment.start({ argv: ['sh', '-c', 'sleep 0.5; seq 1 400000'], cwd: '/' });
      return await readWhileKilling(server, program, { kills: 0 });
    }, diesMovingOutput(moves));
    expect(seen.exitCode).toBe(0);
    expect(seen.wrong === 0 && seen.lines === 400_000).toBe(isExact);
  });
});
