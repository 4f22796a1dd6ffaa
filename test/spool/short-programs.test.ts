import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { isExecError } from '../../src/protocol/index.js';
import { outputUse, Spool } from '../../src/spool/index.js';
import { TestFolder } from '../harness/processes.js';

const exit = { exitCode: 0, signal: null, timedOut: false, sandboxDenied: false } as const;

/** Lets a program print a line and end. */
function run(spool: Spool, processId: string, { keep = true } = {}): void {
  const use = keep ? ({ retain: 'disk' } as const) : ({ onSlowReader: 'spool' } as const);
  const { archive } = outputUse(spool, { owner: 'me', argv: ['echo'], terminal: null }, use);
  const log = new ProcessLog({ archive: archive?.(processId) });
  log.appendOutput('stdout', Buffer.from(`${processId}\n`));
  log.appendExited(exit);
  log.appendClosed();
}

test('a short program touches the disk only later, whatever became of the directory', async () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  run(spool, 'first');
  rmSync(spool.directory, { recursive: true });
  run(spool, 'second');
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(existsSync(spool.directory)).toBe(false);
  await vi.waitFor(() => expect(readdirSync(spool.directory)).toHaveLength(2), { timeout: 10_000 });
  spool.close();
});

test('many of them are written without waiting for the second to pass', async () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout'] });
  try {
    for (let each = 0; each < 300; each += 1) run(spool, `p${each}`);
    for (let turn = 0; turn < 300 && readdirSync(spool.directory).length < 128; turn += 1) await nextTurn();
    expect(readdirSync(spool.directory).length).toBeGreaterThanOrEqual(128);
  } finally {
    vi.useRealTimers();
  }
  spool.close();
  expect(readdirSync(spool.directory)).toHaveLength(300);
});

test('only so many of them wait in memory', () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  for (let each = 0; each < 600; each += 1) run(spool, `p${each}`);
  expect(readdirSync(spool.directory).length).toBeGreaterThanOrEqual(600 - 512);
  spool.close();
  expect(readdirSync(spool.directory)).toHaveLength(600);
});

test('an orderly end writes all of them', async () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  for (let each = 0; each < 50; each += 1) run(spool, `p${each}`);
  spool.close();
  const next = new Spool({ directory: spool.directory });
  const ended = (await next.list()).filter(({ end }) => end?.closedSeq === 3);
  expect(ended).toHaveLength(50);
  const log = await next.find({ owner: 'me', processId: 'p7' });
  expect(Buffer.from(log?.read(0).chunks[0]?.bytes ?? []).toString()).toBe('p7\n');
  log?.close();
});

test('so does the end of a program that closes nothing', () => {
  using folder = new TestFolder();
  const library = pathToFileURL(`${process.cwd()}/dist/index.js`).href;
  const script = `
    const { LocalEnvironment } = await import(${JSON.stringify(library)});
    const local = new LocalEnvironment({ spool: { directory: ${JSON.stringify(folder.file('spool'))} } });
    const child = await local.start({ argv: ['/bin/echo', 'x'], retain: 'disk' });
    await child.wait();
    process.exit();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 30_000 });
  expect(status).toBe(0);
  expect(readdirSync(folder.file('spool'))).toHaveLength(1);
});

test('one whose output nobody wants to keep never touches the disk', async () => {
  using folder = new TestFolder();
  const spool = new Spool({ directory: folder.file('spool') });
  run(spool, 'passing', { keep: false });
  run(spool, 'kept');
  await vi.waitFor(() => expect(readdirSync(spool.directory)).toHaveLength(1), { timeout: 10_000 });
  expect((await new Spool({ directory: spool.directory }).list()).map(({ processId }) => processId)).toEqual([
    'kept',
  ]);
  spool.close();
});

test('once something could not be written, the next start is refused', async () => {
  using folder = new TestFolder();
  const failures: Error[] = [];
  const spool = new Spool({ directory: folder.file('spool'), onFailure: (error) => failures.push(error) });
  run(spool, 'first');
  rmSync(spool.directory, { recursive: true });
  writeFileSync(spool.directory, 'in the way');
  await vi.waitFor(() => expect(failures).toHaveLength(1), { timeout: 10_000 });
  expect(() => run(spool, 'second')).toThrow(expect.objectContaining({ code: 'spoolUnavailable' }));
  expect(failures.every((error) => isExecError(error, 'spoolUnavailable'))).toBe(true);
  spool.close();
});
