// Needs: curl, bwrap, setpriv
import { describe, expect, test } from 'vitest';
import { runOnNamedNetwork, SITE_PORT } from '../harness/named-network.js';
import { identities, Place } from '../host/sandbox/harness.js';
import { shareOf } from './share-of.js';
import { limitMs, tally } from './tally.js';

const LIMIT_MS = limitMs(120_000);

/** One address of the machine is allowed. A name must never lead to another one, whatever its owner answers. */
const ALLOWED = '127.0.0.2';
const FORBIDDEN = '127.0.0.1';

const TRIES = 5;

/** Several requests by every way through the proxy. */
const VISITS = [`curl -sS`, `curl -sS -p`, `curl -sS -x "$ALL_PROXY"`, `curl -sS --http1.0`]
  .map(
    (curl) =>
      `for i in $(seq ${TRIES}); do ${curl} -m 20 http://rebound.test:${SITE_PORT}/; done 2>&1
       ${curl} -m 20 http://rebound.test:${SITE_PORT}/a http://rebound.test:${SITE_PORT}/b 2>&1`,
  )
  .join('\n');

/** What the owner of the name answers: first, then, and from then on. */
const OWNERS: [string, readonly (readonly string[])[]][] = [
  ['changes its mind', [[ALLOWED], [FORBIDDEN]]],
  [
    'changes its mind with every question',
    [[ALLOWED], [FORBIDDEN], [ALLOWED], [FORBIDDEN], [ALLOWED], [FORBIDDEN]],
  ],
  ['answers with both', [[ALLOWED, FORBIDDEN]]],
  ['answers with both, the other way round', [[FORBIDDEN, ALLOWED]]],
  ['hides it in version 6', [[ALLOWED, '::ffff:127.0.0.1']]],
  ['has another one in version 6', [[ALLOWED, '::1']]],
  ['names any address', [[ALLOWED], ['0.0.0.0'], ['::']]],
  ['translates it', [[ALLOWED], ['64:ff9b::127.0.0.1'], ['::ffff:0:127.0.0.1']]],
];

describe.each(identities)('as $name', (identity) => {
  test.each(shareOf(identity, OWNERS))(
    'a name whose owner %s',
    { timeout: LIMIT_MS },
    async (owner, lists) => {
      using place = new Place(identity);
      const { heard, asked, stderr } = await runOnNamedNetwork(
        { identity, names: { 'rebound.test': lists }, directory: place.outside },
        [
          ...['run', '--sandbox', 'read-only', '--network', `allow=rebound.test,${ALLOWED}`],
          ...['--', 'sh', '-c', VISITS],
        ],
      );
      const elsewhere = heard.filter((each) => !each.replace('::ffff:', '').startsWith(`${ALLOWED} `));
      tally(`rebinding, ${owner}, ${identity.name}`, { tries: 4 * (TRIES + 2), successes: elsewhere.length });
      expect(asked['rebound.test']).toBeGreaterThan(0);
      expect(elsewhere).toEqual([]);
      // To allow the name once more would not help.
      expect(stderr).toMatch(/denied access to rebound\.test:\d+ \(private or local\)\.$/m);
    },
  );
});

test('a name that leads to the allowed address alone is reached', { timeout: LIMIT_MS }, async () => {
  const [identity] = identities;
  if (!identity) throw new Error('nobody to attack as');
  using place = new Place(identity);
  const { heard } = await runOnNamedNetwork(
    { identity, names: { 'rebound.test': [[ALLOWED]] }, directory: place.outside },
    ['run', '--sandbox', 'read-only', '--network', `allow=rebound.test,${ALLOWED}`, '--', 'sh', '-c', VISITS],
  );
  expect(heard).toHaveLength(4 * (TRIES + 2));
});
