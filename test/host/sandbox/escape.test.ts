import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Identity, identities, Place, run, workspacePolicy } from './harness.js';
import { attackOn, Host, layOut, surprises } from './hostile-host.js';

describe.each(identities)('a hostile program as $name', (identity: Identity) => {
  const place = new Place(identity);
  const host = new Host(place);
  beforeAll(() => host.open());
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  const attack = async (network: 'restricted' | 'enabled') => {
    layOut(place);
    const { workspace } = place;
    const finished = await run(identity, workspacePolicy(workspace, { network }), {
      argv: attackOn(place, host),
      cwd: workspace,
    });
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    return JSON.parse(finished.stdout) as Record<string, string>;
  };

  test('meets the policy at every turn', async () => {
    expect(surprises(await attack('restricted'))).toEqual([]);
    expect(host.visitors).toBe(0);
    expect(readdirSync(place.outside)).toEqual(['kept']);
    expect(readFileSync(join(place.outside, 'kept'), 'utf8')).toBe('original');
    expect(readFileSync(join(place.workspace, '.git', 'config'), 'utf8')).toBe('original');
    expect(readdirSync(place.workspace).sort()).toEqual(['.git', 'inside', 'mine', 'way-out']);
  });

  test('reaches the network and nothing else when the policy enables it', async () => {
    const met = await attack('enabled');
    const { tcp, unixSocket, abstractSocket, datagramPair, writeOutside } = met;
    expect({ tcp, unixSocket, abstractSocket, datagramPair, writeOutside }).toEqual({
      tcp: 'allowed',
      unixSocket: 'EPERM',
      abstractSocket: 'EPERM',
      datagramPair: 'EPERM',
      writeOutside: 'EROFS',
    });
  });
});
