// Needs: bwrap, setpriv, root
import { chmodSync, chownSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { extendedAttribute, setExtendedAttribute } from '../../../src/host/kernel/index.js';
import { outputOf, sh } from '../../../testkit/wire-client.mjs';
import { ConfinedServer } from '../../harness/confined-server.js';
import { identities, Place } from '../sandbox/harness.js';

const CAPABILITY = 'security.capability';
/** `cap_net_raw+ep`, in the second version of their form. */
const NET_RAW = Buffer.from('0100000200200000000000000000000000000000', 'hex');

const TRY_TO_GIVE = `
import os
for path in "mine", "capable":
    try: os.setxattr(path, "security.capability", bytes.fromhex("${NET_RAW.toString('hex')}"))
    except PermissionError: print("refused")`;

/** Only root can give capabilities, which this test begins with. */
describe.skipIf(process.geteuid?.() !== 0)('files with privileges', () => {
  test.each(identities)('are applied with no more than they had, as $name', async (identity) => {
    const place = new Place(identity);
    await using host = await ConfinedServer.start(identity, {
      place,
      args: ['--changes-dir', join(place.base, 'sets')],
    });
    const at = (name: string): string => join(place.workspace, name);
    const capabilities = (name: string): Buffer | null =>
      extendedAttribute(Buffer.from(at(name)), CAPABILITY);
    for (const name of ['capable', 'moved', 'written']) {
      writeFileSync(at(name), '#!/bin/true\n');
      chmodSync(at(name), 0o755);
      if (identity.uid !== undefined) chownSync(at(name), identity.uid, identity.uid);
      setExtendedAttribute(Buffer.from(at(name)), { name: CAPABILITY, value: NET_RAW });
    }
    const sandbox = host.sandbox({ changes: 'hold', changesId: 'task' });
    const script = `chmod 700 capable; mv moved elsewhere; echo more >> written; echo > mine; chmod 4755 mine
      /usr/bin/python3 -c '${TRY_TO_GIVE}'`;
    await host.client.call('process/start', host.params('change', sh(script), { sandbox }));
    expect(outputOf(await host.client.closedEvents('change')).toString()).toBe('refused\nrefused\n');
    // A reviewer sees what would be run as somebody else.
    const { diffs } = (await host.client.call('changes/diff', { changesId: 'task' })) as {
      diffs: { text: string }[];
    };
    expect(diffs.map(({ text }) => text).join('')).toContain('new file mode 104755\n');
    expect(await host.client.call('changes/apply', { changesId: 'task' })).toMatchObject({ conflicts: [] });
    expect(lstatSync(at('capable')).mode & 0o7777).toBe(0o700);
    expect(capabilities('capable')).toEqual(NET_RAW);
    expect(capabilities('written')).toBeNull();
    expect(capabilities('elsewhere')).toEqual(identity.uid === undefined ? NET_RAW : null);
    expect(lstatSync(at('mine'))).toMatchObject({ uid: identity.uid ?? 0, mode: 0o104755 });
    expect((await host.client.call('changes/list', { changesId: 'task' })).changes).toEqual([]);
  });
});
