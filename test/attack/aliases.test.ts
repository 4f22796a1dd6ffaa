import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import { sh } from '../../testkit/wire-client.mjs';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';

/** Nobody else can mount. */
const isRoot = process.getuid?.() === 0;

const at = (path: string, access: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access,
});

/** Directories, and files that end in a dot and a word, of the user the server runs as. */
function populate(place: Place, { uid }: Identity, names: readonly string[]): void {
  for (const name of names) {
    const path = join(place.base, name);
    if (/\w\.\w+$/.test(name)) writeFileSync(path, 'secret\n');
    else mkdirSync(path, { recursive: true });
    if (uid !== undefined) chownSync(path, uid, uid);
  }
}

/** A server among mounts of its own, which show one place at another. */
async function serverWithBinds(
  identity: Identity,
  names: readonly string[],
  binds: readonly (readonly [string, string])[],
): Promise<ConfinedServer> {
  const place = new Place(identity);
  populate(place, identity, names);
  const mounts = binds.map(([from, to]) => `mount --bind ${join(place.base, from)} ${join(place.base, to)}`);
  const script = [...mounts, 'exec "$@"'].join(' && ');
  return await ConfinedServer.start(identity, {
    place,
    wrapper: ['unshare', '-m', 'sh', '-c', script, 'sh'],
  });
}

describe.runIf(isRoot).each(identities)('places that the host shows twice, as $name', (identity) => {
  test('a denied file is denied under its other path', async () => {
    await using host = await serverWithBinds(
      identity,
      ['outside/key.pem', 'outside/open.txt', 'workspace/alias'],
      [['outside', 'workspace/alias']],
    );
    const sandbox = host.sandbox({}, [at(join(host.place.outside, 'key.pem'), 'deny')]);
    const { text } = await host.run(sh('cat alias/open.txt; cat alias/key.pem 2>/dev/null || echo denied'), {
      sandbox,
    });
    expect(text).toBe('secret\ndenied\n');
  });

  test('a part of a denied directory is denied where it is mounted', async () => {
    await using host = await serverWithBinds(
      identity,
      ['outside/private/deep', 'outside/private/deep/key.pem', 'workspace/alias'],
      [['outside/private/deep', 'workspace/alias']],
    );
    const sandbox = host.sandbox({}, [at(join(host.place.outside, 'private'), 'deny')]);
    const { text } = await host.run(sh('cat alias/key.pem 2>/dev/null || echo denied'), { sandbox });
    expect(text).toBe('denied\n');
  });

  test('a protected name is protected under its other path', async () => {
    await using host = await serverWithBinds(
      identity,
      ['workspace/.git', 'workspace/sub', 'outside/alias'],
      [['workspace', 'outside/alias']],
    );
    const { outside } = host.place;
    const sandbox = host.sandbox({}, [at(outside, 'write')]);
    const script = `: > ${outside}/alias/new && echo new; touch ${outside}/alias/.git/config 2>/dev/null || echo kept`;
    expect((await host.run(sh(script), { sandbox })).text).toBe('new\nkept\n');
  });

  test('what is readable by its name is not written to by another', async () => {
    await using host = await serverWithBinds(
      identity,
      ['outside/settings', 'workspace/alias'],
      [['outside/settings', 'workspace/alias']],
    );
    const sandbox = host.sandbox({}, [at(join(host.place.outside, 'settings'), 'read')]);
    const { text } = await host.run(sh('touch alias/new 2>/dev/null || echo kept; : > new && echo new'), {
      sandbox,
    });
    expect(text).toBe('kept\nnew\n');
  });

  test('a second mount over the first hides what it hid', async () => {
    await using host = await serverWithBinds(
      identity,
      ['outside/key.pem', 'outside/other', 'outside/other/open.txt', 'workspace/alias'],
      [
        ['outside', 'workspace/alias'],
        ['outside/other', 'workspace/alias'],
      ],
    );
    const sandbox = host.sandbox({}, [at(join(host.place.outside, 'key.pem'), 'deny')]);
    expect((await host.run(sh('cat alias/open.txt'), { sandbox })).text).toBe('secret\n');
  });
});

describe.each(identities)('the root writable, as $name', (identity) => {
  test.each([true, false])('names below the workspace are protected, existing: %s', async (exists) => {
    await using host = await ConfinedServer.start(identity);
    const { workspace } = host.place;
    const git = join(workspace, '.git');
    if (exists) populate(host.place, identity, ['workspace/.git']);
    const permissions = {
      type: 'managed',
      file_system: { type: 'restricted', entries: [special('root', 'write')] },
      network: 'restricted',
    };
    const script =
      ': > new && echo new; (mkdir -p .git/hooks && : > .git/hooks/pre-commit) 2>/dev/null || echo kept';
    const { text } = await host.run(sh(script), { sandbox: { ...host.sandbox(), permissions } });
    expect(text).toBe('new\nkept\n');
    await expect.poll(() => existsSync(git)).toBe(exists);
    expect(existsSync(join(git, 'hooks'))).toBe(false);
  });
});
