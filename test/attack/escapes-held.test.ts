// Needs: bwrap, setpriv
import { describe, expect, test } from 'vitest';
import { identities } from '../host/sandbox/harness.js';
import { holdingDoor, setsOf } from './escapes/door.js';
import { Proving, policies } from './escapes/drive.js';
import { allows, expectNone } from './escapes/judgement.js';
import { together } from './escapes/themes.js';
import { upperDirectory } from './escapes/upper-directory.js';
import { isLong, limitMs, tally } from './tally.js';

const LIMIT_MS = limitMs(120_000);

const themes = [...together, upperDirectory];

describe.each(identities)('escapes of a program whose changes are held, as $name', (identity) => {
  test.each(isLong ? policies : (['workspace'] as const))(
    'are held back by the policy: %s',
    { timeout: LIMIT_MS },
    async (policy) => {
      await using proving = await Proving.open(identity, { door: holdingDoor });
      const sets = setsOf(proving.site);
      for (const theme of themes) {
        const outcomes = await proving.play(theme, policy, { names: { sets } });
        const forbidden = outcomes.filter(({ escape }) => !allows(escape, policy));
        const escaped = forbidden.filter(({ success }) => success !== undefined);
        tally(`escapes while held: ${theme.name}, ${policy}, ${identity.name}`, {
          tries: forbidden.length,
          successes: escaped.length,
        });
        expectNone(escaped);
        expect.soft(forbidden.length).toBeGreaterThan(5);
      }
    },
  );
});
