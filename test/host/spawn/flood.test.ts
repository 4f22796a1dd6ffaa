import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Child, spawnChild } from '../../../src/host/spawn/index.js';
import { DescriptorScope } from '../../../src/host/spawn/descriptors.js';
import { readFlood } from '../../../src/host/spawn/flood-read.js';
import { readBuffer } from '../../../src/host/spawn/kernel-read.js';
import { libc } from '../../../src/host/kernel/libc.js';
import { PseudoTerminal } from '../../../src/host/spawn/pseudo-terminal.js';
import { flushTerminal } from '../../../src/host/spawn/terminal-state.js';
import { Recorder, screen, shell, start } from './harness.js';

const terminal = screen;
const scratch = mkdtempSync(join(tmpdir(), 'execwire-flood-'));
/** Without newlines, which a terminal would make two bytes of. */
const text = Buffer.from(randomBytes(3 * 1024 * 1024).toString('base64'));
const file = join(scratch, 'text');

beforeAll(() => writeFileSync(file, text));
afterAll(() => rmSync(scratch, { recursive: true }));

/** A sink that pauses its child at every chunk and lets it go on in a later turn. */
class Hesitant extends Recorder {
  child: Child | undefined;

  override output(stream: string, bytes: Uint8Array): void {
    super.output(stream, bytes);
    this.child?.pause();
    setImmediate(() => this.child?.resume());
  }
}

/** `yes`, whose output is not kept. */
function endless(): { child: Child; seen: Recorder; bytes: () => number } {
  let total = 0;
  class Counting extends Recorder {
    override output(stream: string, bytes: Uint8Array): void {
      total += bytes.length;
      super.output(stream, bytes.subarray(0, 0));
    }
  }
  const seen = new Counting();
  const env = { PATH: process.env.PATH ?? '' };
  const child = spawnChild({ argv: ['yes'], cwd: '/', env, stdin: 'null', terminal }, seen);
  return { child, seen, bytes: () => total };
}

describe('a terminal whose program floods', () => {
  test('every byte in order, all before exited', async () => {
    const { seen } = shell(`cat ${file}; exit 7`, { terminal });
    await seen.untilClosed();
    expect(seen.bytes().equals(text)).toBe(true);
    expect(seen.events).toEqual(['pty', 'exited', 'closed']);
    expect(seen.end).toMatchObject({ exitCode: 7, signal: null });
  });

  test('floods, waits for input, and floods again', async () => {
    const { child, seen } = shell(`stty -echo; for part in 1 2 3; do cat ${file}; read go; done`, {
      terminal,
      stdin: 'pipe',
    });
    for (const part of [1, 2, 3]) {
      await seen.until(() => seen.length >= part * text.length);
      child.write(Buffer.from('\n'));
    }
    await seen.untilClosed();
    expect(seen.bytes().equals(Buffer.concat([text, text, text]))).toBe(true);
  });

  test('paused at every chunk: nothing is lost, and the order stays', async () => {
    const seen = new Hesitant();
    const env = { PATH: process.env.PATH ?? '' };
    seen.child = spawnChild({ argv: ['cat', file], cwd: '/', env, stdin: 'null', terminal }, seen);
    await seen.untilClosed();
    expect(seen.bytes().equals(text)).toBe(true);
    expect(seen.closedTimes).toBe(1);
  });

  test('paused, it says nothing, and goes on after resume', async () => {
    const { child, seen } = start(['cat', file], { terminal });
    await seen.until(() => seen.length > 256 * 1024);
    child.pause();
    const before = seen.length;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(seen.length).toBe(before);
    child.resume();
    await seen.untilClosed();
    expect(seen.bytes().equals(text)).toBe(true);
  });

  test('all its leader printed comes before exited, and all of a job that prints on before closed', async () => {
    const late = `( trap '' HUP; while kill -0 $$ 2>/dev/null; do :; done; cat ${file} )`;
    const { seen } = shell(`trap '' HUP; ${late} & cat ${file}`, { terminal });
    await seen.untilExited();
    // The job begins when its leader is reaped, which is a little before that is told.
    expect(seen.bytes().subarray(0, text.length).equals(text)).toBe(true);
    await seen.untilClosed();
    expect(seen.bytes().equals(Buffer.concat([text, text]))).toBe(true);
    expect(seen.events.at(-1)).toBe('closed');
  });

  test('^C ends it', async () => {
    const { child, seen, bytes } = endless();
    await seen.until(() => bytes() > text.length);
    child.write(Uint8Array.of(0x03));
    await seen.untilClosed();
    expect(seen.end?.signal).toBe('SIGINT');
  });

  test('abandoned, it ends', async () => {
    const { child, seen, bytes } = endless();
    await seen.until(() => bytes() > text.length);
    child.abandonOutput();
    await seen.untilClosed();
    expect(seen.events.slice(-2)).toEqual(['exited', 'closed']);
    expect(await child.killTree()).toBe(true);
  });

  test('killed while paused, it closes after resume', async () => {
    const { child, seen, bytes } = endless();
    await seen.until(() => bytes() > text.length);
    child.pause();
    expect(await child.killTree()).toBe(true);
    await seen.untilExited();
    child.resume();
    await seen.untilClosed();
    expect(seen.end?.signal).toBe('SIGKILL');
  });

  test('eight of them arrive completely', async () => {
    const all = Array.from({ length: 8 }, () => start(['cat', file], { terminal }));
    for (const { seen } of all) {
      await seen.untilClosed();
      expect(seen.bytes().equals(text)).toBe(true);
    }
  });
});

describe('one turn of reading a flood', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** Every look at the clock is 10 µs after the last one, and something may happen meanwhile. */
  function slowClock(meanwhile: () => void = () => undefined): { looks: () => number } {
    let looks = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      looks += 1;
      meanwhile();
      return looks / 100;
    });
    return { looks: () => looks };
  }

  test('takes what is there behind what was read, and waits a moment for more', () => {
    using scope = new DescriptorScope();
    const { control, slave } = PseudoTerminal.open(scope, screen);
    libc().write(slave, Buffer.from('printed'), 7);
    flushTerminal(control);
    const clock = slowClock();
    expect(readFlood(control, 3)).toBe(10);
    expect(Buffer.from(readBuffer.subarray(3, 10)).toString()).toBe('printed');
    expect(clock.looks()).toBeLessThan(60);
  });

  test('ends while a byte comes every few microseconds', () => {
    using scope = new DescriptorScope();
    const { control, slave } = PseudoTerminal.open(scope, screen);
    const clock = slowClock(() => libc().write(slave, Buffer.from('x'), 1));
    readFlood(control, 0);
    expect(clock.looks()).toBeLessThanOrEqual(102);
  });

  test('ends when nothing comes', () => {
    using scope = new DescriptorScope();
    const { control } = PseudoTerminal.open(scope, screen);
    const clock = slowClock();
    expect(readFlood(control, 0)).toBe(0);
    expect(clock.looks()).toBeLessThan(60);
  });
});
