import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, KeyboardNews } from '../../src/contract/index.js';
import { untilPrinted } from '../harness/events.js';
import { serve } from '../harness/serve.js';

async function open(url: string): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'viewers', dial: () => dialWebSocket(url), resume: true });
}

/** The next that happens to the keyboard. */
function news({ keyboard }: ExecProcess): Promise<KeyboardNews> {
  return new Promise((resolve) => {
    const stop = keyboard?.watch((each) => {
      stop?.();
      resolve(each);
    });
  });
}

describe('where a viewer begins', () => {
  test('with the last bytes or lines', async () => {
    await using server = await serve();
    await using writer = await open(server.url);
    await using viewer = await open(server.url);
    const child = await writer.start({ argv: ['cat'], pipeStdin: true, lease: 'kept', processId: 'p' });
    for (const line of ['one', 'two', 'three']) {
      await child.write(`${line}\n`);
      await untilPrinted(child, line);
    }
    const beginnings = [
      [{ lines: 1 }, 3],
      [{ lines: 2 }, 2],
      [{ lines: 9 }, 1],
      [{ lines: 0 }, undefined],
      [{ bytes: 6 }, 3],
      [{ bytes: 100 }, 1],
    ] as const;
    for (const [tail, first] of beginnings) {
      const view = await viewer.attach('p', { tail, keyboard: 'view' });
      await child.write('');
      const { chunks } = await view.read({ afterSeq: 0, waitMs: first === undefined ? 0 : 5_000 });
      expect({ tail, first: chunks[0]?.seq }).toEqual({ tail, first });
      await view.detach();
    }
  });
});

describe('the keyboard', () => {
  test('is with one client; others are refused, ask and take', async () => {
    await using server = await serve();
    await using first = await open(server.url);
    await using second = await open(server.url);
    const mine = await first.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
    await mine.keyboard?.take();
    const yours = await second.attach('p', { keyboard: 'ifFree', screen: true });
    expect([mine.keyboard?.holds, yours.keyboard?.holds]).toEqual([true, false]);
    const refusal = { code: 'keyboardElsewhere', message: expect.stringContaining('ask') };
    await expect(yours.write('no\n')).rejects.toMatchObject(refusal);
    await expect(yours.resize({ rows: 5, cols: 5 })).rejects.toMatchObject(refusal);
    await expect(yours.closeStdin()).rejects.toMatchObject(refusal);

    const asked = news(mine);
    expect(await yours.keyboard?.ask()).toBe(false);
    const question = await asked;
    const got = news(yours);
    await mine.keyboard?.give(question.type === 'asked' ? question.by : 0);
    expect(await got).toEqual({ type: 'changed', holds: true });
    expect(mine.keyboard?.holds).toBe(false);
    await yours.write('yes\r');
    await untilPrinted(mine, 'yes');
    await expect(mine.write('no\r')).rejects.toMatchObject(refusal);

    const lost = news(yours);
    await mine.keyboard?.take();
    expect(await lost).toEqual({ type: 'changed', holds: false });
    await mine.resize({ rows: 5, cols: 50 });
    await mine.write('again\r');
    await untilPrinted(yours, 'again');
  });

  test('typing takes it, for clients that do not know of it', async () => {
    await using server = await serve();
    await using first = await open(server.url);
    await using second = await open(server.url);
    const child = await first.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
    const other = await second.attach('p');
    await child.write('one\r');
    await other.write('two\r');
    await child.write('three\r');
    await untilPrinted(other, 'three');
  });

  test('is free when whoever had it has gone', async () => {
    await using server = await serve();
    const first = await open(server.url);
    await using second = await open(server.url);
    const child = await first.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
    await child.keyboard?.take();
    const other = await second.attach('p', { keyboard: 'none' });
    await expect(other.write('no')).rejects.toMatchObject({ code: 'keyboardElsewhere' });
    await first.close();
    expect(await other.keyboard?.ask()).toBe(true);
    await other.write('yes\r');
    await untilPrinted(other, 'yes');
  });

  test('is never with whoever only views, who changes nothing else either', async () => {
    await using server = await serve();
    await using writer = await open(server.url);
    await using viewer = await open(server.url);
    const child = await writer.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
    const view = await viewer.attach('p', { keyboard: 'view' });
    const refusal = { code: 'viewOnly' };
    await expect(view.write('no\r')).rejects.toMatchObject(refusal);
    await expect(view.resize({ rows: 5, cols: 5 })).rejects.toMatchObject(refusal);
    await expect(view.closeStdin()).rejects.toMatchObject(refusal);
    await expect(view.signal('SIGINT')).rejects.toMatchObject(refusal);
    await expect(view.terminate()).rejects.toMatchObject(refusal);
    await expect(view.keyboard?.take()).rejects.toMatchObject(refusal);
    await expect(view.keyboard?.ask()).rejects.toMatchObject(refusal);
    await child.write('yes\r');
    await untilPrinted(view, 'yes');
  });
});
