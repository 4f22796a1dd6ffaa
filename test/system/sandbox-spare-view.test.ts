import { chmodSync, linkSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { sh } from '../harness/wire-client.js';
import { identities, Place } from '../host/sandbox/harness.js';

describe.each(identities)('a sandbox that waited, as $name,', (identity) => {
  test('is not used once a protected file was linked anew', async () => {
    const place = new Place(identity);
    makeProtected(place, identity);
    const [file, other] = [join(place.workspace, 'file'), join(place.workspace, 'other')];
    writeFileSync(file, 'original');
    chmodSync(file, 0o666);
    await using host = await ConfinedServer.start(identity, { place });
    const entry = { path: { type: 'path', path: pathToFileURL(file).href }, access: 'read' };
    const sandbox = host.sandbox({}, [entry]);
    await untilOneWaits(host.server.pid, () => host.run(['true'], { sandbox }));
    linkSync(file, other);
    unlinkSync(file);
    renameSync(other, file);
    const { text } = await host.run(sh('echo changed 2>/dev/null > file; cat file'), { sandbox });
    expect(text).toBe('original');
  });
});
