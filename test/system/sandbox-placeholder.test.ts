import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { sh } from '../../testkit/wire-client.mjs';
import { identities, Place } from '../host/sandbox/harness.js';

test.each(identities)(
  'who owns a closed workspace cannot open it and take a protected name, as $name',
  async (identity) => {
    const place = new Place(identity);
    chmodSync(place.workspace, 0o555);
    await using host = await ConfinedServer.start(identity, { place });
    const taking = host.params('p', sh('chmod 755 . && mkdir .git && touch .git/config'));
    const { error } = await host.client.ask('process/start', taking);
    // Root can make the name, and keeps it free as everywhere.
    if (error) expect(error.data).toMatchObject({ code: 'sandboxUnavailable', reason: 'placeholder' });
    else await host.client.closedEvents('p');
    expect(existsSync(join(place.workspace, '.git/config'))).toBe(false);
  },
);
