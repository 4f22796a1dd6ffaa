import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const fixture = fileURLToPath(new URL('../fixtures/embedding.mjs', import.meta.url));

/** What zod, which declares the protocol, shares between copies of itself. It has no other way, and no effect. */
const SHARED_BY_ZOD = ['__zod_globalConfig', '__zod_globalRegistry'];
/** Node's own, made when something first touches `Headers` or `Response`. */
const FETCH_DISPATCHER = 'Symbol(undici.globalDispatcher.1)';
const TOLERATED = [...SHARED_BY_ZOD, FETCH_DISPATCHER];

/** Far more than it takes. */
const LIMIT_MS = 60_000;

interface OwnState {
  readonly globals: string[];
}

test('a program that embeds client and server stays as it was', { timeout: LIMIT_MS + 5_000 }, async () => {
  using folder = new TestFolder();
  // Where it is killed, it leaves its files here.
  const env = { ...process.env, TMPDIR: folder.path };
  // It ends by itself, or is killed: nothing of the library may keep it alive once all is closed.
  const options = { timeout: LIMIT_MS, env };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [fixture], options);
  const { before, after, said, fetchesThroughUs } = JSON.parse(stdout) as Record<
    'before' | 'after',
    OwnState
  > & { said: unknown; fetchesThroughUs: boolean };
  const globals = after.globals.filter((name) => !TOLERATED.includes(name));
  expect({ ...after, globals }).toEqual(before);
  expect(fetchesThroughUs).toBe(false);
  expect(stderr).toBe('');
  const confined = expect.stringMatching(/^(one|two)\n$|^sandboxUnavailable$/);
  const everything = ['hi\n', 'on a terminal\r\n', confined, confined, true];
  const special = expect.stringMatching(/^(limited|held)\n$|^sandboxUnavailable$/);
  const here = [special, special, 'spoolUnavailable', 'unsupported', 'from the web'];
  const there = [special, special, 'stays\n', 'stays\n', 'from the web'];
  expect(said).toEqual([everything, here, everything, there, everything, there, [200], everything]);
});
