import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { sh } from '../../testkit/wire-client.mjs';
import { identities, Place } from '../host/sandbox/harness.js';

const granting = (access: 'read' | 'write', path: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access,
});

describe.each(identities)('a sandbox that waited, as $name,', (identity) => {
  test('is not used once a protected file was linked anew', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    const [file, other] = [join(place.workspace, 'file'), join(place.workspace, 'other')];
    writeFileSync(file, 'original');
    chmodSync(file, 0o666);
    await using host = await ConfinedServer.start(identity, { place });
    const sandbox = host.sandbox({}, [granting('read', file)]);
    await untilOneWaits(host.server.pid, () => host.run(['true'], { sandbox }));
    linkSync(file, other);
    unlinkSync(file);
    renameSync(other, file);
    const { text } = await host.run(sh('echo changed 2>/dev/null > file; cat file'), { sandbox });
    expect(text).toBe('original');
  });

  test.each([
    [
      'linked anew',
      (file: string, other: string) => [linkSync(file, other), unlinkSync(file), renameSync(other, file)],
    ],
    [
      'replaced',
      (file: string, other: string) => [
        writeFileSync(other, 'original'),
        chmodSync(other, 0o666),
        renameSync(other, file),
      ],
    ],
  ])('is not used once a writable file was %s', async (_how, change) => {
    const place = new Place(identity);
    makeProtected(place, identity);
    const [file, other] = [join(place.outside, 'file'), join(place.outside, 'other')];
    writeFileSync(file, 'original');
    chmodSync(file, 0o666);
    await using host = await ConfinedServer.start(identity, { place });
    const sandbox = host.sandbox({}, [granting('write', file)]);
    await untilOneWaits(host.server.pid, () => host.run(['true'], { sandbox }));
    change(file, other);
    const { text } = await host.run(sh(`printf changed > ${file}; cat ${file}`), { sandbox });
    expect(text).toBe('changed');
    expect(readFileSync(file, 'utf8')).toBe('changed');
  });

  test('is not used once a protected place cannot be looked at, and the start is as any other', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    const closed = join(place.workspace, 'closed');
    const kept = join(closed, 'kept');
    mkdirSync(kept, { recursive: true });
    await using host = await ConfinedServer.start(identity, { place });
    const sandbox = host.sandbox({}, [granting('read', kept)]);
    await untilOneWaits(host.server.pid, () => host.run(['true'], { sandbox }));
    chmodSync(closed, 0o000);
    const { error } = await host.client.ask('process/start', host.params('p', ['true'], { sandbox }));
    chmodSync(closed, 0o755);
    // Who owns what is closed could open it, and is refused as by any start.
    if (error) expect(error.data).toMatchObject({ reason: 'placeholder' });
  });

  test('is none that could not keep a name free', async () => {
    const place = new Place(identity);
    const { workspace } = place;
    // Another's directory: nobody may make a name there, until its owner lets everybody.
    if (identity.uid !== undefined) chownSync(workspace, 0, 0);
    await using host = await ConfinedServer.start(identity, { place });
    for (let round = 0; round < 3; round += 1) {
      const { text } = await host.run(sh('sleep 0.05; echo ran'));
      expect(text).toBe('ran\n');
    }
    chmodSync(workspace, 0o777);
    const { text } = await host.run(sh('mkdir .git 2>/dev/null || echo kept'));
    expect(text).toBe('kept\n');
  });

  test('is not used for a program without input where /dev/null is kept from it', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    await using host = await ConfinedServer.start(identity, { place });
    const hidden = { path: { type: 'path', path: 'file:///dev/null' }, access: 'deny' };
    const sandbox = host.sandbox({}, [hidden]);
    await untilOneWaits(host.server.pid, () => host.run(['true'], { sandbox }));
    const { text } = await host.run(['echo', 'ran'], { sandbox });
    expect(text).toBe('ran\n');
  });
});
