// Needs: bwrap, setpriv
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { outputOf, sh } from '../../../testkit/wire-client.mjs';
import { ConfinedServer } from '../../harness/confined-server.js';
import { identities, Place } from '../sandbox/harness.js';

test.each(identities)(
  'a workspace is held that lies in a directory of another user, as $name',
  { timeout: 60_000 },
  async (identity) => {
    const shared = mkdtempSync(join(tmpdir(), 'execwire-shared-'));
    try {
      chmodSync(shared, 0o1777);
      const between = join(shared, 'between');
      mkdirSync(between, { mode: 0o755 });
      const place = new Place(identity, between);
      await using host = await ConfinedServer.start(identity, {
        place,
        env: { XDG_STATE_HOME: join(place.base, 'state') },
      });
      const whole = { path: { type: 'path', path: pathToFileURL(shared).href }, access: 'write' };
      const sandbox = host.sandbox({ changes: 'hold', changesId: 'task' }, [whole]);
      const run = async (id: string, script: string): Promise<string> => {
        await host.client.call('process/start', host.params(id, sh(script), { sandbox }));
        return outputOf(await host.client.closedEvents(id)).toString();
      };
      expect(await run('first', `echo made > file; echo beside > ${shared}/file; cat file`)).toBe('made\n');
      expect(await run('second', `cat file ${shared}/file`)).toBe('made\nbeside\n');
      expect(readdirSync(place.workspace)).toEqual([]);
      await host.client.call('changes/apply', { changesId: 'task' });
      expect(readdirSync(place.workspace)).toEqual(['file']);
      expect(readdirSync(shared).toSorted()).toEqual(['between', 'file']);
    } finally {
      rmSync(shared, { recursive: true, force: true });
    }
  },
);
