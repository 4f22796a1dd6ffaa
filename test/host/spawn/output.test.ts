import { describe, expect, test } from 'vitest';
import { backends, kinds, screen, shell, start } from './harness.js';

const MEGABYTE = 1024 * 1024;

/** Speaks once its parent is reaped: until then the parent is at least a zombie that can be signalled. */
const lateJob = '( while kill -0 $$ 2>/dev/null; do :; done; sleep 0.1; echo late )';

describe.each(backends)('output over %s', (_name, spawn) => {
  test('stdout, stderr, exited and closed', async () => {
    const { seen } = shell('echo out; echo err >&2; exit 3', {}, spawn);
    await seen.untilClosed();
    expect(seen.text('stdout')).toBe('out\n');
    expect(seen.text('stderr')).toBe('err\n');
    expect(seen.events.slice(-2)).toEqual(['exited', 'closed']);
    expect(seen.end).toMatchObject({ exitCode: 3, signal: null });
  });

  test('a burst of a megabyte right before the end arrives completely and before exited', async () => {
    const { seen } = shell(`head -c ${MEGABYTE} /dev/zero`, {}, spawn);
    await seen.untilClosed();
    expect(seen.bytes().length).toBe(MEGABYTE);
    expect(seen.events).toEqual(['stdout', 'exited', 'closed']);
  });

  test('many children at once: the own output of each precedes its exited', async () => {
    const children = Array.from({ length: 50 }, () => shell('head -c 60000 /dev/zero', {}, spawn));
    for (const { seen } of children) {
      await seen.untilClosed();
      expect(seen.bytes().length).toBe(60_000);
      expect(seen.events).toEqual(['stdout', 'exited', 'closed']);
    }
  });

  test('a background job that holds the pipe delays closed, and its late output arrives', async () => {
    const { seen } = shell(`${lateJob} & echo early`, {}, spawn);
    await seen.untilExited();
    expect(seen.text()).toBe('early\n');
    await seen.untilClosed();
    expect(seen.text()).toBe('early\nlate\n');
    expect(seen.events).toEqual(['stdout', 'exited', 'stdout', 'closed']);
  });

  test('paused while it writes and exits: nothing is lost, and nothing comes before resume', async () => {
    const { child, seen } = shell('head -c 50000 /dev/zero; echo err >&2', {}, spawn);
    child.pause();
    await seen.untilExited();
    expect(seen.events).toEqual(['exited']);
    child.resume();
    await seen.untilClosed();
    expect(seen.bytes('stdout').length).toBe(50_000);
    expect(seen.text('stderr')).toBe('err\n');
    expect(seen.closedTimes).toBe(1);
  });

  test('abandoned output does not hold closed back', async () => {
    const { child, seen } = shell('sleep 1000 & echo early', {}, spawn);
    await seen.untilExited();
    child.abandonOutput();
    await seen.untilClosed();
    expect(seen.text()).toBe('early\n');
    expect(await child.killTree()).toBe(true);
  });
});

describe('output on a terminal', () => {
  const terminal = screen;

  test('500 short commands in a row, all bytes', async () => {
    const lengths = new Set<number>();
    for (let run = 0; run < 500; run += 1) {
      const { seen } = start(['head', '-c', '5000', '/dev/zero'], { terminal });
      await seen.untilClosed();
      lengths.add(seen.bytes('pty').length);
      expect(seen.events).toEqual(['pty', 'exited', 'closed']);
    }
    expect([...lengths]).toEqual([5000]);
  });

  test('200 commands at once, all bytes', async () => {
    const children = Array.from({ length: 200 }, () =>
      start(['head', '-c', '20000', '/dev/zero'], { terminal }),
    );
    for (const { seen } of children) {
      await seen.untilClosed();
      expect(seen.bytes('pty').length).toBe(20_000);
      expect(seen.events).toEqual(['pty', 'exited', 'closed']);
    }
  });

  test('a burst of a megabyte right before the end', async () => {
    const { seen } = start(['head', '-c', String(MEGABYTE), '/dev/zero'], { terminal });
    await seen.untilClosed();
    expect(seen.bytes('pty').length).toBe(MEGABYTE);
    expect(seen.events).toEqual(['pty', 'exited', 'closed']);
  });

  test('chunks are larger than one read of the kernel gives', async () => {
    const chunksOfOneRun = async (): Promise<number> => {
      let chunks = 0;
      const { child, seen } = start(['head', '-c', String(MEGABYTE), '/dev/zero'], { terminal });
      const output = seen.output.bind(seen);
      seen.output = (stream, bytes) => {
        chunks += 1;
        output(stream, bytes);
      };
      await seen.untilClosed();
      expect(child.stdinOpen).toBe(false);
      return chunks;
    };
    let fewest = Number.POSITIVE_INFINITY;
    // A program that is slower than its reader gives it no more than that each time.
    for (let run = 0; run < 5 && fewest >= MEGABYTE / 4096; run += 1)
      fewest = Math.min(fewest, await chunksOfOneRun());
    expect(fewest).toBeLessThan(MEGABYTE / 4096);
  });

  test('a background job that holds the terminal delays closed, and its late burst arrives', async () => {
    const { seen } = shell(`trap '' HUP; ( ${lateJob}; head -c 60000 /dev/zero ) & echo early`, { terminal });
    await seen.untilExited();
    expect(seen.text()).toBe('early\r\n');
    await seen.untilClosed();
    expect(seen.bytes().length).toBe('early\r\nlate\r\n'.length + 60_000);
    expect(seen.events).toEqual(['pty', 'exited', 'pty', 'closed']);
  });

  test('paused while it writes and exits: all bytes come after resume', async () => {
    const { child, seen } = start(['head', '-c', '3000', '/dev/zero'], { terminal });
    child.pause();
    await seen.untilExited();
    expect(seen.events).toEqual(['exited']);
    child.resume();
    await seen.untilClosed();
    expect(seen.bytes().length).toBe(3000);
  });

  test('paused by its own output again and again: nothing is lost', async () => {
    const { child, seen } = start(['head', '-c', '400000', '/dev/zero'], { terminal });
    const output = seen.output.bind(seen);
    seen.output = (stream, bytes) => {
      output(stream, bytes);
      child.pause();
      setImmediate(() => child.resume());
    };
    await seen.untilClosed();
    expect(seen.bytes().length).toBe(400_000);
    expect(seen.closedTimes).toBe(1);
  });

  test('all byte values pass unchanged', async () => {
    const script = 'stty raw; i=0; while [ $i -lt 256 ]; do printf "\\\\$(printf %03o $i)"; i=$((i+1)); done';
    const { seen } = shell(script, { terminal });
    await seen.untilClosed();
    expect([...seen.bytes()]).toEqual(Array.from({ length: 256 }, (_, value) => value));
  });

  test('abandoned output does not hold closed back', async () => {
    const { child, seen } = shell("trap '' HUP; sleep 1000 & echo early", { terminal });
    await seen.untilExited();
    child.abandonOutput();
    await seen.untilClosed();
    expect(seen.text()).toBe('early\r\n');
    expect(await child.killTree()).toBe(true);
  });
});

test.each(kinds)(
  'endless output of a background job does not hold exited back: %s',
  async (_name, terminal) => {
    const { child, seen } = shell("trap '' HUP; yes & echo started", { terminal });
    await seen.untilExited();
    expect(await child.killTree()).toBe(true);
    await seen.untilClosed();
    expect(seen.closedTimes).toBe(1);
  },
);
