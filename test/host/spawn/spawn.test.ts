import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildSpec, ensureWatchdog, hostCapabilities } from '../../../src/host/spawn/index.js';
import { isExecError } from '../../../src/protocol/index.js';
import { backends, eventually, kinds, screen, shell, start } from './harness.js';
import { openDescriptors } from './machine.js';

let dir = '';

beforeAll(() => {
  // What the first start of all brings along stays open.
  ensureWatchdog();
  dir = mkdtempSync(join(tmpdir(), 'execwire-spawn-'));
  mkdirSync(join(dir, 'bin'));
  script('bin/hello', '#!/bin/sh\necho "hello from $0"\n', 0o755);
  script('plain', 'not a program', 0o644);
  script('orphaned', '#!/no/such/interpreter\n', 0o755);
});

afterAll(() => rmSync(dir, { recursive: true }));

function script(name: string, text: string, mode: number): void {
  writeFileSync(join(dir, name), text);
  chmodSync(join(dir, name), mode);
}

/** The reason a spawn failed for, and its sentence. */
function failure(spawning: () => unknown): { reason: unknown; message: string } {
  try {
    spawning();
  } catch (error) {
    if (!isExecError(error, 'spawnFailed')) throw error;
    return { reason: error.data.reason, message: error.message };
  }
  throw new Error('it was started');
}

describe.each(backends)('starting over %s', (_name, spawn) => {
  async function textOf(argv: readonly string[], spec: Partial<ChildSpec> = {}): Promise<string> {
    const { seen } = start(argv, spec, spawn);
    await seen.untilClosed();
    return seen.text();
  }

  test.each([
    ['a missing name', ['no-such-program'], {}, 'programNotFound'],
    ['a missing path', ['/no/such/program'], {}, 'programNotFound'],
    ['a path below a file', ['/etc/passwd/x'], {}, 'programNotFound'],
    ['an empty name', [''], {}, 'programNotFound'],
    ['a directory', ['/usr'], {}, 'notExecutable'],
    ['a file without x', ['./plain'], {}, 'notExecutable'],
    ['no arguments', [], {}, 'invalidArgument'],
    ['a NUL in an argument', ['echo', 'a\0b'], {}, 'invalidArgument'],
    ['a NUL in the environment', ['echo'], { env: { A: 'b\0c' } }, 'invalidArgument'],
    ['a name with =', ['echo'], { env: { 'A=B': 'c' } }, 'invalidArgument'],
    ['a NUL in the directory', ['echo'], { cwd: '/tmp\0' }, 'invalidArgument'],
    ['a relative directory', ['echo'], { cwd: 'tmp' }, 'invalidArgument'],
    ['a missing directory', ['echo'], { cwd: '/no/such/directory' }, 'cwdNotFound'],
    ['a file as directory', ['echo'], { cwd: '/etc/passwd' }, 'cwdNotADirectory'],
    ['too many arguments', ['echo', ...Array<string>(40).fill('x'.repeat(100_000))], {}, 'invalidArgument'],
  ] as const)('%s', async (_what, argv, spec, reason) => {
    const before = openDescriptors();
    expect(failure(() => start(argv, { cwd: dir, ...spec }, spawn)).reason).toBe(reason);
    await eventually(() => openDescriptors() <= before);
  });

  test('the sentence names program or directory, never arguments or environment', () => {
    const spec = { env: { SECRET: 'hunter2' } };
    const { message } = failure(() => start(['no-such-program', '--token=hunter2'], spec, spawn));
    expect(message).toContain('no-such-program');
    expect(message).not.toContain('hunter2');
    const missing = failure(() => start(['echo', 'hunter2'], { ...spec, cwd: '/no/such/dir' }, spawn));
    expect(missing.message).toContain('/no/such/dir');
    expect(missing.message).not.toContain('hunter2');
  });

  test('the program is looked up in the PATH of the child, relative to its cwd', async () => {
    const expected = `hello from ${dir}/bin/hello\n`;
    expect(await textOf(['hello'], { env: { PATH: `/nowhere:${dir}/bin` } })).toBe(expected);
    expect(await textOf(['hello'], { cwd: dir, env: { PATH: 'bin' } })).toBe(expected);
    expect(await textOf(['bin/hello'], { cwd: dir })).toBe(expected);
    expect(failure(() => start(['sh'], { env: { PATH: `${dir}/bin` } }, spawn)).reason).toBe(
      'programNotFound',
    );
    expect(await textOf(['printf', 'found'], { env: {} })).toBe('found');
  });

  test('arg0 changes what the program sees, not which one runs', async () => {
    expect(await textOf(['sh', '-c', 'echo "$0"'], { arg0: 'other' })).toBe('other\n');
    expect(await textOf(['sh', '-c', 'echo "$0"'])).toBe('sh\n');
  });

  test('cwd and environment are exactly those given', async () => {
    const env = { PATH: '/usr/bin:/bin', GREETING: 'grüß dich', EMPTY: '' };
    const { seen } = start(['env'], { env, cwd: dir }, spawn);
    await seen.untilClosed();
    expect(seen.text().trim().split('\n').sort()).toEqual([
      'EMPTY=',
      'GREETING=grüß dich',
      'PATH=/usr/bin:/bin',
    ]);
    expect(await textOf(['pwd'], { cwd: dir, env })).toBe(`${dir}\n`);
  });

  test('the child leads a session of its own', async () => {
    const { child, seen } = shell('cut -d " " -f 5,6 /proc/$$/stat', {}, spawn);
    await seen.untilClosed();
    expect(seen.text()).toBe(`${child.pid} ${child.pid}\n`);
  });

  test('a descriptor can be handed over under another number', async () => {
    const [a, b] = [openSync(join(dir, 'plain'), 'r'), openSync('/etc/hostname', 'r')];
    const inheritFds = [
      { childFd: 5, fd: a },
      { childFd: a, fd: b },
    ];
    const { seen } = shell(
      `head -c 5 <&5; cmp /dev/fd/${a} /etc/hostname && echo same`,
      { inheritFds },
      spawn,
    );
    closeSync(a);
    closeSync(b);
    await seen.untilClosed();
    expect(seen.text()).toBe('not asame\n');
  });

  test('200 children leave no descriptor behind', async () => {
    await textOf(['true']);
    const before = openDescriptors();
    for (let run = 0; run < 200; run += 1) await textOf(['true'], { stdin: 'pipe' });
    await eventually(() => openDescriptors() <= before);
  });

  test('the sink hears nothing while spawn is still running', async () => {
    const { seen } = start(['true'], {}, spawn);
    expect(seen.events).toEqual([]);
    await seen.untilClosed();
  });
});

describe('the native backend', () => {
  test('is in use here, with everything it can do', () => {
    expect(hostCapabilities()).toEqual({
      backend: 'posixSpawn',
      terminals: true,
      lineage: 'mark',
      subreaper: false,
      watchdog: true,
    });
  });

  test.each(kinds)('the child has descriptors 0, 1 and 2 and no others: %s', async (_name, terminal) => {
    const others = [
      start(['sleep', '1000'], { stdin: 'pipe' }),
      start(['sleep', '1000'], { terminal: screen }),
    ];
    // `ls` itself has the directory open as 3.
    const { seen } = start(['ls', '/proc/self/fd'], { terminal });
    await seen.untilClosed();
    expect(seen.text().trim().split(/\s+/)).toEqual(['0', '1', '2', '3']);
    for (const { child } of others) await child.killTree();
  });

  test('a script whose interpreter is missing', () => {
    const { reason, message } = failure(() => start(['./orphaned'], { cwd: dir }));
    expect(reason).toBe('notExecutable');
    expect(message).toContain('interpreter');
  });

  test('200 terminals leave no descriptor behind', async () => {
    const before = openDescriptors();
    for (let run = 0; run < 200; run += 1) await start(['true'], { terminal: screen }).seen.untilClosed();
    await eventually(() => openDescriptors() <= before);
  });

  test('the limits of the server itself are as before', async () => {
    const before = readFileSync('/proc/self/limits', 'latin1');
    await start(['true']).seen.untilClosed();
    expect(readFileSync('/proc/self/limits', 'latin1')).toBe(before);
  });
});

test('the portable backend refuses terminals', () => {
  const [, [, portable]] = backends as [unknown, (typeof backends)[0]];
  expect(() => start(['true'], { terminal: screen }, portable)).toThrow(
    expect.objectContaining({ code: 'ptyUnavailable' }),
  );
});
