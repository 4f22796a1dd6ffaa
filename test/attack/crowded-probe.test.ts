import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { asIdentity } from '../harness/confined-server.js';
import { type Identity, identities } from '../host/sandbox/harness.js';
import { isLong, limitMs } from './tally.js';

const SCRIPT = fileURLToPath(new URL('crowded-probe.mjs', import.meta.url));

/** From none to more than it takes; in the short form every third number, others for each user. */
const roomsOf = (identity: Identity): number[] =>
  Array.from({ length: 20 }, (_, index) => index).filter(
    (index) => isLong || index % 3 === identities.indexOf(identity),
  );

interface Verdict {
  readonly available: boolean;
  readonly reason?: string;
}

describe.each(identities)('what is found out as $name while descriptors are short', (identity) => {
  test(
    'is not held against the machine for good',
    async () => {
      const [command, ...args] = [
        ...asIdentity(identity),
        'prlimit',
        '--nofile=64:',
        process.execPath,
        SCRIPT,
      ];
      const probe = async (room: number | string) => {
        const { stdout } = await promisify(execFile)(command, [...args, String(room)], { cwd: '/' });
        return JSON.parse(stdout) as { crowded: Verdict; free: Verdict };
      };
      const { free: expected } = await probe(20);
      expect(expected).toMatchObject({ available: true, backend: 'posixSpawn' });
      const rooms = roomsOf(identity);
      const seen = await Promise.all(rooms.map(probe));
      expect(seen.map(({ free }) => free)).toEqual(rooms.map(() => expected));
      // It was short indeed, and said so.
      const refused = seen.map(({ crowded }) => crowded).filter(({ available }) => !available);
      expect(refused.length).toBeGreaterThan(1);
      expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['resourceLimit']));
    },
    limitMs(120_000),
  );
});
