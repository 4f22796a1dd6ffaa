import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { AdmissionControl } from '../../src/app/admission-control.js';
import { CappedOutput, MAX_BUFFERED_BYTES } from '../../src/app/capped-output.js';
import { CapturedRoom } from '../../src/app/captured-room.js';
import { isExecError } from '../../src/protocol/index.js';
import { OUTBOX_FULL_BYTES } from '../../src/rpc/outbox.js';
import { openInProcess } from '../harness/app-in-process.js';

describe('a program that does not read its input', () => {
  test.each([false, true])('can still be resized and killed, on a terminal: %s', async (tty) => {
    await using app = openInProcess();
    const client = await app.client.initialize();
    const command = tty ? ['sh', '-c', 'stty raw -echo; sleep 1000'] : ['sleep', '1000'];
    const params = { command, processHandle: 'deaf', cwd: '/', tty, streamStdin: true, timeoutMs: null };
    await client.call('process/spawn', params);
    const deltaBase64 = Buffer.alloc(16 * 1024).toString('base64');
    for (let index = 0; index < 1500; index += 1) {
      client.post(`w${index}`, 'process/writeStdin', { processHandle: 'deaf', deltaBase64 });
    }
    // 24 MB do not fit anywhere: some are answered "overloaded", none is kept without bound.
    await client.wire.until(() => client.wire.arrivals.some((each) => 'error' in each));
    const refused = client.wire.arrivals.find((each) => 'error' in each);
    expect(refused).toMatchObject({ error: { code: -32001 } });
    if (tty) await client.call('process/resizePty', { processHandle: 'deaf', size: { rows: 9, cols: 9 } });
    await client.call('process/kill', { processHandle: 'deaf' });
    expect(await client.exited('deaf')).toMatchObject({ exitCode: 137 });
  });

  test('still runs out of time', async () => {
    await using app = openInProcess();
    const client = await app.client.initialize();
    const params = { command: ['sleep', '1000'], processHandle: 'deaf', cwd: '/', streamStdin: true };
    await client.call('process/spawn', { ...params, timeoutMs: 500 });
    const deltaBase64 = Buffer.alloc(1024 * 1024).toString('base64');
    for (let index = 0; index < 20; index += 1) {
      client.post(`w${index}`, 'process/writeStdin', { processHandle: 'deaf', deltaBase64 });
    }
    expect(await client.exited('deaf')).toMatchObject({ exitCode: 124 });
  });
});

describe('a client that does not read', () => {
  test('stops the program, loses nothing and gets the answer last', async () => {
    await using app = openInProcess();
    const client = await app.client.initialize();
    app.fromServer.pause();
    // Three times what the connection takes in before it counts as full.
    const script = 'seq 1 2000000; echo end >&2';
    const params = { command: ['sh', '-c', script], processId: 'p', streamStdoutStderr: true };
    client.post('run', 'command/exec', { ...params, disableOutputCap: true, disableTimeout: true });
    // Four megabytes lie around unread; what the program has further to say waits in the program.
    while (app.fromServer.writableLength < OUTBOX_FULL_BYTES) await nextTurn();
    app.fromServer.resume();
    expect(await client.wire.answerTo('run')).toMatchObject({ result: { exitCode: 0 } });
    const lines = client.streamed('p').toString().split('\n');
    expect([lines.length, lines[0], lines.at(-2)]).toEqual([2_000_001, '1', '2000000']);
    expect(client.wire.arrivals.at(-1)).toMatchObject({ id: 'run' });
  });
});

describe('admission', () => {
  test('refuses what would pile up, and lets control through', async () => {
    const control = new AdmissionControl();
    const release: (() => void)[] = [];
    const wait = (method: string): unknown =>
      control.run(method, () => new Promise<void>((resolve) => release.push(resolve)));
    const admitted = (method: string): boolean => {
      try {
        wait(method);
        return true;
      } catch (error) {
        if (isExecError(error, 'overloaded')) return false;
        throw error;
      }
    };
    while (admitted('process/writeStdin'));
    expect(release.length).toBe(1024);
    expect([admitted('fs/readFile'), admitted('process/kill'), admitted('command/exec')]).toEqual([
      false,
      true,
      true,
    ]);
    while (admitted('process/kill'));
    while (admitted('command/exec'));
    expect(release.length).toBe(1024 + 1024 + 1024);
    for (const each of release) each();
    await Promise.resolve();
    expect([admitted('fs/readFile'), admitted('command/exec')]).toEqual([true, true]);
  });
});

describe('capped output', () => {
  test('without a cap it keeps what one message can carry and says when that was not all', () => {
    const output = new CappedOutput({ capBytes: null, room: new CapturedRoom() });
    const megabyte = new Uint8Array(1024 * 1024).fill(0x61);
    for (let index = 0; index < 32; index += 1) output.take(megabyte);
    expect([output.text().length, output.tooLarge, output.capReached]).toEqual([
      MAX_BUFFERED_BYTES,
      false,
      false,
    ]);
    output.take(Uint8Array.of(0x62));
    expect([output.text().length, output.tooLarge]).toEqual([MAX_BUFFERED_BYTES, true]);
  });

  test('a command whose output does not fit is an error, not a lie', async () => {
    await using app = openInProcess();
    const client = await app.client.initialize();
    const command = ['head', '-c', String(MAX_BUFFERED_BYTES + 1), '/dev/zero'];
    const [code] = await client.refusal('command/exec', { command, disableOutputCap: true });
    expect(code).toBe(-32603);
  });
});
