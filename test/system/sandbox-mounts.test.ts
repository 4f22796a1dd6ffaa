import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { sh } from '../../testkit/wire-client.mjs';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';

/** Nobody else can mount. */
const isRoot = process.getuid?.() === 0;

/** A server with mounts of its own, some of them made before it starts. They are gone with it. */
async function serverWithMounts(
  identity: Identity,
  mounts: (place: Place) => readonly string[],
): Promise<ConfinedServer> {
  const place = new Place(identity);
  makeProtected(place, identity);
  const script = [...mounts(place), 'exec "$@"'].join(' && ');
  return await ConfinedServer.start(identity, {
    place,
    wrapper: ['unshare', '-m', 'sh', '-c', script, 'sh'],
  });
}

/** What is mounted below it later is passed on to whoever has a copy of it, as all is on most machines. */
const sharedOutside = ({ outside }: Place) => [
  `mount -t tmpfs -o mode=1777 none ${outside}`,
  `mount --make-shared ${outside}`,
  `mkdir -m 1777 ${outside}/new`,
];

/** Runs a script among the mounts of the server. */
function beside({ server }: ConfinedServer, script: string): string {
  return execFileSync('nsenter', ['-t', String(server.pid), '-m', 'sh', '-c', script], { encoding: 'utf8' });
}

/** Mounts a file system that everybody may write to, with a file in it. */
function mountAnother(host: ConfinedServer): string {
  const path = join(host.place.outside, 'new');
  beside(host, `mount -t tmpfs -o mode=1777 none ${path} && echo text > ${path}/there`);
  return path;
}

describe.runIf(isRoot).each(identities)('mounts of the host, seen as $name', (identity) => {
  test('one made while a program runs does not reach it', async () => {
    await using host = await serverWithMounts(identity, sharedOutside);
    const go = join(host.place.workspace, 'go');
    const path = join(host.place.outside, 'new');
    const script = `echo ready; until [ -e ${go} ]; do sleep 0.01; done; touch ${path}/new 2>&-; ls ${path}`;
    await host.client.call('process/start', host.params('p', sh(script)));
    await host.client.until(() => host.client.output('p').toString() === 'ready\n');
    mountAnother(host);
    writeFileSync(go, '');
    await host.client.closedEvents('p');
    expect(host.client.output('p').toString()).toBe('ready\n');
    expect(beside(host, `ls ${path}`)).toBe('there\n');
  });

  test('one made while a sandbox waits is there for its program, and read-only', async () => {
    await using host = await serverWithMounts(identity, sharedOutside);
    await untilOneWaits(host.server.pid, () => host.run(['true']));
    const path = mountAnother(host);
    const { text } = await host.run(sh(`cat ${path}/there; touch ${path}/new 2>&- || echo kept`));
    expect(text).toBe('text\nkept\n');
  });

  test('one made while file operations wait is there for them, and read-only', async () => {
    await using host = await serverWithMounts(identity, sharedOutside);
    const ask = (method: string, path: string, more = {}) =>
      host.client.ask(method, { path: pathToFileURL(path).href, sandbox: host.sandbox(), ...more });
    const dataBase64 = Buffer.from('text\n').toString('base64');
    const first = await ask('fs/writeFile', join(host.place.workspace, 'file'), { dataBase64 });
    expect(first.error).toBeUndefined();
    const path = mountAnother(host);
    expect((await ask('fs/readFile', join(path, 'there'))).result).toEqual({ dataBase64 });
    const { error } = await ask('fs/writeFile', join(path, 'file'), { dataBase64 });
    expect(error?.message).toMatch(/Read-only file system/);
  });

  test('a second /proc leads neither into another sandbox nor to the switches of the kernel', async () => {
    await using host = await serverWithMounts(identity, ({ workspace }) => [
      `mkdir -p ${workspace}/tree/proc`,
      `mount -t proc none ${workspace}/tree/proc`,
    ]);
    const { workspace, outside } = host.place;
    const entries = [special('root', 'read'), { path: pathEntry(outside), access: 'write' }];
    const other = {
      permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
    };
    const wait = `echo ready; until [ -e ${outside}/go ]; do sleep 0.01; done`;
    await host.client.call('process/start', host.params('other', sh(wait), { sandbox: other }));
    await host.client.until(() => host.client.output('other').toString() === 'ready\n');
    const script = [
      `cd ${workspace}/tree/proc 2>/dev/null`,
      `for pid in [0-9]*; do (echo x > "$pid/root${outside}/new") 2>&-; done`,
      // Opened and nothing more: even if that worked, nothing would change.
      '(: >> sys/kernel/core_pattern) 2>&- && echo open',
      'echo done',
    ].join('; ');
    expect((await host.run(sh(script))).text).toBe('done\n');
    writeFileSync(join(outside, 'go'), '');
    await host.client.closedEvents('other');
    expect(readdirSync(outside)).not.toContain('new');
  });
});

const pathEntry = (path: string) => ({ type: 'path', path: pathToFileURL(path).href });
