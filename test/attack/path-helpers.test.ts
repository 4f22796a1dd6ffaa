import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, withoutSystemPrograms } from '../harness/confined-server.js';
import { ownPlace } from '../harness/own-place.js';
import { sh } from '../../testkit/wire-client.mjs';
import { type Identity, identities, type Place } from '../host/sandbox/harness.js';

const granting = (path: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access: 'write',
});

/** A directory of the identity’s own. */
function directory(path: string, { uid }: Identity): string {
  mkdirSync(path, { recursive: true });
  if (uid !== undefined) chownSync(path, uid, uid);
  return path;
}

/** A copy of a program of this machine, by the identity. */
function install(program: string, path: string, { uid }: Identity): void {
  copyFileSync(program, path);
  chmodSync(path, 0o755);
  if (uid !== undefined) chownSync(path, uid, uid);
}

/** What a program that should never run leaves behind where nothing confined can write. */
const trap = (place: Place): string => `#!/bin/sh\necho ran >> '${place.outside}/ran'\n`;
const hasRun = (place: Place): boolean => existsSync(join(place.outside, 'ran'));

/** Leaves programs in a place, from inside a sandbox. */
async function plant(host: ConfinedServer, where: string, names: readonly string[], sandbox?: object) {
  const script = names.map((name) => `printf '%s' "$0" > ${where}/${name}; chmod 755 ${where}/${name}`);
  const { exit } = await host.run([...sh(script.join('; ')), trap(host.place)], sandbox ? { sandbox } : {});
  expect(exit).toMatchObject({ exitCode: 0 });
}

/** Makes the server use each of its helpers. */
async function useAll(host: ConfinedServer): Promise<void> {
  writeFileSync(join(host.place.workspace, 'text'), 'needle\n');
  for (const sandbox of [undefined, host.sandbox()]) {
    const found = await host.client.call('fs/search', { path: host.cwd, pattern: 'needle', sandbox });
    expect(found).toMatchObject({ matches: [{ line: 1 }] });
  }
  for (const more of [{}, { tty: true }, { arg0: 'name' }, { sandbox: host.sandbox({ maxProcesses: 30 }) }])
    expect((await host.run(['true'], more)).exit).toMatchObject({ exitCode: 0 });
}

/**
 * Only root can take a program of the system away without becoming somebody else: in a user namespace, where a plain
 * user could, every directory of the system belongs to nobody, and nothing in it is trusted.
 */
const canTakeAway = process.getuid?.() === 0;

const HELPERS = ['rg', 'bwrap', 'sh', 'dash', 'bash', 'env', 'setsid', 'prlimit', 'unshare', 'sleep', 'node'];

describe.each(identities)('a server of $name', (identity) => {
  test('runs nothing a confined program left in a directory of its PATH, then or after a restart', async () => {
    const place = ownPlace(identity);
    const bin = directory(join(place.workspace, '.venv/bin'), identity);
    chownSync(join(place.workspace, '.venv'), identity.uid ?? -1, identity.uid ?? -1);
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const first = await ConfinedServer.start(identity, { place, env });
    try {
      await plant(first, bin, HELPERS);
      await useAll(first);
      expect(hasRun(place)).toBe(false);
    } finally {
      await first.server.stop();
    }
    await using host = await ConfinedServer.start(identity, { place, env });
    await useAll(host);
    expect(hasRun(place)).toBe(false);
  });

  test.runIf(canTakeAway)(
    'does not trust a ripgrep any more that a policy lets programs replace',
    async () => {
      const place = ownPlace(identity);
      const tools = directory(join(place.base, 'tools'), identity);
      install('/usr/bin/rg', join(tools, 'rg'), identity);
      const env = { PATH: `${tools}:/usr/bin:/bin` };
      const wrapper = withoutSystemPrograms('rg');
      await using host = await ConfinedServer.start(identity, { place, env, wrapper });
      await useAll(host);
      await plant(host, tools, ['rg'], host.sandbox({}, [granting(tools)]));
      await useAll(host);
      expect(hasRun(place)).toBe(false);
    },
  );

  test.runIf(canTakeAway)(
    'refuses a policy that lets programs replace its only bubblewrap, and every other one from then on',
    async () => {
      const place = ownPlace(identity);
      const tools = directory(join(place.base, 'tools'), identity);
      install('/usr/bin/bwrap', join(tools, 'bwrap'), identity);
      const env = { PATH: `${tools}:/usr/bin:/bin` };
      const wrapper = withoutSystemPrograms('bwrap');
      await using host = await ConfinedServer.start(identity, { place, env, wrapper });
      expect((await host.run(['true'])).exit).toMatchObject({ exitCode: 0 });
      const refused = {
        code: 'sandboxUnavailable',
        reason: 'bubblewrapWritable',
        hint: expect.stringContaining('/usr/bin'),
      };
      for (const sandbox of [host.sandbox({}, [granting(tools)]), host.sandbox()]) {
        const start = await host.client.ask('process/start', host.params('p', ['true'], { sandbox }));
        expect(start.error?.data).toMatchObject(refused);
        const list = await host.client.ask('fs/readDirectory', { path: host.cwd, sandbox });
        expect(list.error?.data).toMatchObject(refused);
      }
    },
  );

  test.runIf(canTakeAway)('takes the next bubblewrap', async () => {
    const place = ownPlace(identity);
    const [first = '', second = ''] = ['first', 'second'].map((name) =>
      directory(join(place.base, name), identity),
    );
    for (const tools of [first, second]) install('/usr/bin/bwrap', join(tools, 'bwrap'), identity);
    const env = { PATH: `${first}:${second}:/usr/bin:/bin` };
    const wrapper = withoutSystemPrograms('bwrap');
    await using host = await ConfinedServer.start(identity, { place, env, wrapper });
    const usedFor = async (id: string, sandbox: object) => {
      await host.client.call('process/start', host.params(id, ['sleep', '1000'], { sandbox }));
      const used = bubblewraps(place);
      await host.client.call('process/terminate', { processId: id });
      await host.client.closedEvents(id);
      return used;
    };
    expect(await usedFor('a', host.sandbox())).toEqual([join(first, 'bwrap')]);
    expect(await usedFor('b', host.sandbox({}, [granting(first)]))).toEqual([join(second, 'bwrap')]);
    expect(await usedFor('c', host.sandbox())).toEqual([join(second, 'bwrap')]);
    const { entries } = (await host.client.call('fs/readDirectory', {
      path: host.cwd,
      sandbox: host.sandbox(),
    })) as { entries: unknown[] };
    expect(entries).toEqual(expect.any(Array));
  });
});

/** Those of a place that run right now. */
function bubblewraps({ base }: Place): string[] {
  const programs = readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readlinkSync(`/proc/${pid}/exe`)] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(programs.filter((path) => path.startsWith(`${base}/`)))];
}
