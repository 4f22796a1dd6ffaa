// Needs: bwrap, setpriv
import { describe, test } from 'vitest';
import { identities } from '../host/sandbox/harness.js';
import { Proving, policies } from './escapes/drive.js';
import { allows, mustWork, expectNone } from './escapes/judgement.js';
import { appServerDoor, mcpDoor } from './escapes/other-doors.js';
import { together } from './escapes/themes.js';
import { shareOf } from './share-of.js';
import { isLong, limitMs, tally } from './tally.js';

/** Not in a temporary directory: these policies allow writing there. */
const PARENT = '/var/tmp';
const LIMIT_MS = limitMs(120_000);

const doors = [
  { name: 'an app server', door: appServerDoor },
  { name: 'the tools of a model', door: mcpDoor },
];

describe.each(identities)('escapes through other doors, as $name', (identity) => {
  test.each(shareOf(identity, doors))(
    'are held back by $name',
    { timeout: LIMIT_MS },
    async ({ name, door }) => {
      await using proving = await Proving.open(identity, { door, parent: PARENT });
      const { isRoot } = proving.site;
      for (const policy of isLong ? policies : (['workspace'] as const))
        for (const theme of together) {
          const outcomes = await proving.play(theme, policy);
          const forbidden = outcomes.filter(({ escape }) => !allows(escape, policy));
          const escaped = forbidden.filter(({ success }) => success !== undefined);
          tally(`escapes through ${name}, ${policy}, ${identity.name}`, {
            tries: forbidden.length,
            successes: escaped.length,
          });
          expectNone(escaped);
          const kept = outcomes.filter(
            ({ escape, success }) =>
              allows(escape, policy) && mustWork(escape, { isRoot }) && success === undefined,
          );
          expectNone(kept);
        }
    },
  );
});
