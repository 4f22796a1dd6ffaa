import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { HostCapabilities } from '../../../src/host/spawn/index.js';

const fixture = fileURLToPath(new URL('../../fixtures/host-report.mjs', import.meta.url));

interface Report extends HostCapabilities {
  readonly reason: string | null;
  readonly gone: boolean;
}

/** What a process reports that runs under the given limits and environment. */
async function report(limits: readonly string[], env: Record<string, string> = {}): Promise<Report> {
  const argv = [...limits, process.execPath, fixture];
  const { stdout } = await promisify(execFile)('prlimit', argv, { env: { ...process.env, ...env } });
  return JSON.parse(stdout) as Report;
}

test('without limits everything is there', async () => {
  expect(await report(['--core=0'])).toEqual({
    backend: 'posixSpawn',
    terminals: true,
    lineage: 'mark',
    subreaper: true,
    watchdog: true,
    reason: null,
    gone: true,
  });
});

test('where the limit used as mark cannot be set, trees are known by their session', async () => {
  expect(await report(['--rttime=1000000:1000000'])).toMatchObject({
    backend: 'posixSpawn',
    lineage: 'session',
    subreaper: false,
    watchdog: false,
    reason: null,
    gone: true,
  });
});

test('the portable backend can be asked for', async () => {
  expect(await report(['--core=0'], { EXECWIRE_SPAWN_BACKEND: 'childProcess' })).toEqual({
    backend: 'childProcess',
    terminals: false,
    lineage: 'session',
    subreaper: false,
    watchdog: false,
    reason: null,
    gone: true,
  });
});

test('running out of descriptors is a resource limit, and what ran before can be killed', async () => {
  expect(await report(['--core=0'], { OPEN_FILES: '40:40' })).toMatchObject({
    reason: 'resourceLimit',
    gone: true,
  });
});
