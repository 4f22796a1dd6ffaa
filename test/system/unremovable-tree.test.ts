import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { asIdentity, ConfinedServer } from '../harness/confined-server.js';
import { AppClient } from '../../testkit/app-client.mjs';
import { WebSocketApp } from '../../testkit/app-server.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { identities, Place } from '../host/sandbox/harness.js';

/** Root may remove anything, so somebody else has to try. */
const plainUser = identities.at(-1) ?? { name: 'plain user' };

/** Several directories nobody may write to, with some files each: what a Go module cache looks like. */
function plantReadOnlyTree(parent: string): string {
  const tree = join(parent, 'cache');
  const own = (path: string): void => {
    if (plainUser.uid !== undefined) chownSync(path, plainUser.uid, plainUser.uid);
  };
  mkdirSync(tree);
  own(tree);
  for (const module of ['a', 'b', 'c']) {
    const directory = join(tree, module);
    mkdirSync(join(directory, 'sub'), { recursive: true });
    for (let index = 0; index < 5; index += 1) writeFileSync(join(directory, `file${index}`), '');
    for (const path of [join(directory, 'sub'), directory]) {
      own(path);
      chmodSync(path, 0o555);
    }
  }
  return tree;
}

/** Whoever removes the place afterwards may be a plain user. */
function makeRemovable(tree: string): void {
  for (const module of readdirSync(tree)) chmodSync(join(tree, module), 0o755);
}

describe('a tree that cannot be removed', () => {
  test.each(['without', 'under'])('is one failed request of serve, %s a policy', async (kind) => {
    await using host = await ConfinedServer.start(plainUser);
    const { client, place, server } = host;
    const sandbox = kind === 'under' ? host.sandbox() : undefined;
    const tree = plantReadOnlyTree(place.workspace);
    const path = pathToFileURL(tree).href;
    await client.call('process/start', startParams('bystander', ['cat'], { pipeStdin: true }));
    // What was left running by one request must not end the server during the next.
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { error } = await client.ask('fs/remove', { path, sandbox });
      expect(error).toMatchObject({ data: { code: 'permissionDenied', osCode: 'EACCES' } });
    }
    expect(existsSync(join(tree, 'a', 'file0'))).toBe(true);
    const chunk = Buffer.from('still here').toString('base64');
    await client.call('process/write', { processId: 'bystander', writeId: 'w', chunk });
    await client.until(() => client.output('bystander').toString() === 'still here');
    expect(server.child.exitCode).toBeNull();
    makeRemovable(tree);
    await client.call('fs/remove', { path, sandbox });
    expect(existsSync(tree)).toBe(false);
  });

  test('is one failed request of app-server', async () => {
    using place = new Place(plainUser);
    const tree = plantReadOnlyTree(place.workspace);
    await using app = await WebSocketApp.start({
      wrapper: asIdentity(plainUser),
      env: { HOME: place.base },
      cwd: place.base,
    });
    const { client: wire, socket } = await dialWire(app.url);
    const client = await new AppClient(wire).initialize();
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await client.refusal('fs/remove', { path: tree }))[0]).toBe(-32603);
    expect(app.child.exitCode).toBeNull();
    makeRemovable(tree);
    await client.call('fs/remove', { path: tree });
    expect(existsSync(tree)).toBe(false);
    socket.terminate();
  });
});
