import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { sh } from '../harness/wire-client.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';

/** Nobody else can mount. */
const isRoot = process.getuid?.() === 0;

/** A server with mounts of its own, which are passed on to whoever has a copy of them: so it is on most machines. */
async function serverWithMounts(identity: Identity): Promise<ConfinedServer> {
  const place = new Place(identity);
  makeProtected(place, identity);
  const { outside } = place;
  const script = [
    `mount -t tmpfs -o mode=1777 none ${outside}`,
    `mount --make-shared ${outside}`,
    `mkdir -m 1777 ${outside}/new`,
    'exec "$@"',
  ].join(' && ');
  return await ConfinedServer.start(identity, {
    place,
    wrapper: ['unshare', '-m', 'sh', '-c', script, 'sh'],
  });
}

/** Mounts an empty file system that everybody may write to. */
function mountAnother({ server, place }: ConfinedServer): void {
  const mount = ['mount', '-t', 'tmpfs', '-o', 'mode=1777', 'none', join(place.outside, 'new')];
  execFileSync('nsenter', ['-t', String(server.pid), '-m', ...mount]);
}

describe.runIf(isRoot).each(identities)('a file system that is mounted later, for $name', (identity) => {
  test('is not writable to a program whose sandbox was made before', async () => {
    await using host = await serverWithMounts(identity);
    await untilOneWaits(host.server.pid, () => host.run(['true']));
    mountAnother(host);
    const { text } = await host.run(sh(`touch ${host.place.outside}/new/file 2>/dev/null || echo kept`));
    expect(text).toBe('kept\n');
  });

  test('is not writable to file operations whose helper was there before', async () => {
    await using host = await serverWithMounts(identity);
    const at = (...names: string[]) => pathToFileURL(join(...names)).href;
    const write = (path: string) =>
      host.client.ask('fs/writeFile', { path, dataBase64: 'AAAA', sandbox: host.sandbox() });
    expect((await write(at(host.place.workspace, 'file'))).error).toBeUndefined();
    mountAnother(host);
    const { error } = await write(at(host.place.outside, 'new', 'file'));
    expect(error?.message).toMatch(/Read-only file system/);
  });
});
