import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { backends, kinds, screen, shell, start } from './harness.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe.each(backends)('stdin over %s', (_name, spawn) => {
  test('what is written arrives in order, then the end', async () => {
    const { child, seen } = start(['cat'], { stdin: 'pipe' }, spawn);
    for (let line = 0; line < 1000; line += 1) child.write(bytes(`${line}\n`));
    child.closeStdin();
    expect(child.stdinOpen).toBe(false);
    await seen.untilClosed();
    expect(seen.text()).toBe(Array.from({ length: 1000 }, (_, line) => `${line}\n`).join(''));
    expect(seen.end?.exitCode).toBe(0);
  });

  test('a child that does not read leaves the bytes queued', async () => {
    const { child, seen } = start(['sleep', '1000'], { stdin: 'pipe' }, spawn);
    child.write(new Uint8Array(1_000_000));
    expect(child.queuedBytes).toBeGreaterThan(0);
    const writable = child.onceWritable(0);
    expect(await child.killTree()).toBe(true);
    await writable;
    await seen.untilClosed();
    expect(child.queuedBytes).toBe(0);
    expect(child.stdinOpen).toBe(false);
  });

  test('onceWritable resolves when the child has taken enough', async () => {
    const { child, seen } = start(['wc', '-c'], { stdin: 'pipe' }, spawn);
    child.write(new Uint8Array(1_000_000));
    await child.onceWritable(1000);
    expect(child.queuedBytes).toBeLessThanOrEqual(1000);
    child.closeStdin();
    await seen.untilClosed();
    expect(seen.text().trim()).toBe('1000000');
  });

  test('a closed reader is no error: stdin is just gone', async () => {
    const { child, seen } = shell('exec <&-; echo deaf; sleep 1000', { stdin: 'pipe' }, spawn);
    await seen.until(() => seen.text() === 'deaf\n');
    child.write(new Uint8Array(1000));
    await child.onceWritable(0);
    expect(child.stdinOpen).toBe(false);
    child.write(new Uint8Array(1000));
    child.closeStdin();
    await child.killTree();
    await seen.untilClosed();
  });

  test('without stdin the child reads an empty file', async () => {
    const { child, seen } = start(['cat'], {}, spawn);
    expect(child.stdinOpen).toBe(false);
    child.write(bytes('ignored'));
    child.closeStdin();
    await seen.untilClosed();
    expect(seen.events).toEqual(['exited', 'closed']);
  });
});

describe('typing on a terminal', () => {
  const terminal = screen;

  test('a line is echoed and read; end of file ends the program', async () => {
    const { child, seen } = start(['cat'], { terminal });
    child.write(bytes('hello\n'));
    await seen.until(() => seen.text() === 'hello\r\nhello\r\n');
    child.closeStdin();
    await seen.untilClosed();
    expect(seen.end).toMatchObject({ exitCode: 0, signal: null });
  });

  test('the end of file on a line that has begun completes the line first', async () => {
    const { child, seen } = shell('stty -echo; echo ready; cat', { terminal });
    await seen.until(() => seen.text() === 'ready\r\n');
    child.write(bytes('unfinished'));
    child.closeStdin();
    await seen.untilClosed();
    expect(seen.text()).toBe('ready\r\nunfinished\r\n');
  });

  test('the end-of-file character is the one the program has set', async () => {
    const { child, seen } = shell('stty -echo eof ^Y; echo ready; cat', { terminal });
    await seen.until(() => seen.text() === 'ready\r\n');
    child.closeStdin();
    await seen.untilClosed();
    expect(seen.end?.exitCode).toBe(0);
  });

  test('^C interrupts the foreground job', async () => {
    const { child, seen } = start(['cat'], { terminal });
    child.write(bytes('up\n'));
    await seen.until(() => seen.text() === 'up\r\nup\r\n');
    child.write(Uint8Array.of(3));
    await seen.untilClosed();
    expect(seen.end).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
  });

  test('the size is what was asked for, and changes are announced', async () => {
    const script = 'stty size; trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.01; done';
    const { child, seen } = shell(script, { terminal: { rows: 10, cols: 20 } });
    await seen.until(() => seen.text() === '10 20\r\nready\r\n');
    child.resize({ rows: 50, cols: 132 });
    await seen.untilClosed();
    expect(seen.text()).toBe('10 20\r\nready\r\n50 132\r\n');
  });

  test('it is the controlling terminal and TERM is left to the caller', async () => {
    const { seen } = shell('exec 2>&1; echo to-tty > /dev/tty; tty > /dev/null && echo "${TERM-unset}"', {
      terminal,
    });
    await seen.untilClosed();
    expect(seen.text()).toBe('to-tty\r\nunset\r\n');
  });

  test('300 KB for a program that does not read: the loop stays free and the tree can be killed', async () => {
    const { child, seen } = shell('stty raw -echo; echo ready; sleep 1000', { terminal });
    await seen.until(() => seen.text().startsWith('ready'));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    child.write(new Uint8Array(300_000));
    for (let turn = 0; turn < 50; turn += 1) await start(['true']).seen.untilClosed();
    delay.disable();
    expect(child.queuedBytes).toBeGreaterThan(250_000);
    // A stream of libuv would spin in one write for as long as the program does not read.
    expect(delay.percentile(50) / 1e6).toBeLessThan(50);
    expect(await child.killTree()).toBe(true);
    await seen.untilClosed();
    expect(child.queuedBytes).toBe(0);
  });

  test('300 KB for a program that starts to read late arrive completely', async () => {
    const { child, seen } = shell('stty raw -echo; echo ready; read -r x; head -c 300000 | wc -c', {
      terminal,
    });
    await seen.until(() => seen.text().startsWith('ready'));
    child.write(bytes('go\n'));
    child.write(new Uint8Array(300_000).fill(97));
    await seen.untilClosed();
    expect(seen.text()).toContain('300000');
  });
});

test.each(kinds)('nothing can be done wrong after the end: %s', async (_name, terminal) => {
  const { child, seen } = start(['true'], { terminal, stdin: 'pipe' });
  await seen.untilClosed();
  child.write(bytes('x'));
  child.closeStdin();
  child.resize({ rows: 1, cols: 1 });
  child.pause();
  child.resume();
  child.abandonOutput();
  await child.onceWritable(0);
  expect(child.stdinOpen).toBe(false);
  expect(child.signalGroup('SIGTERM')).toBe(false);
  expect(await child.killTree()).toBe(true);
  expect(seen.events.filter((event) => event === 'closed').length).toBe(1);
});
