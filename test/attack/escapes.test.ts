import { afterAll, beforeAll, describe, test } from 'vitest';
import { identities } from '../host/sandbox/harness.js';
import { isLong, limitMs, tally } from './tally.js';
import { Proving, policies } from './escapes/drive.js';
import type { Theme } from './escapes/escape.js';
import { allows, mustWork, expectNone } from './escapes/judgement.js';
import { aboutTerminals, themes } from './escapes/themes.js';

const LIMIT_MS = limitMs(120_000);

/** A terminal is given to a program in another way than pipes are, so it is tried, too. */
function waysOf(theme: Theme) {
  const onPipes = policies.map((policy) => ({ name: policy as string, policy, tty: false }));
  const onTerminal = { name: 'workspace, on a terminal', policy: 'workspace' as const, tty: true };
  return isLong || aboutTerminals.includes(theme) ? [...onPipes, onTerminal] : onPipes;
}

describe.each(identities)('escapes as $name', (identity) => {
  let proving: Proving;
  beforeAll(async () => {
    proving = await Proving.open(identity);
  });
  afterAll(async () => {
    await proving[Symbol.asyncDispose]();
  });

  describe.each(themes)('$name', (theme) => {
    test('work where nothing holds them back', { timeout: LIMIT_MS }, async () => {
      const { isRoot } = proving.site;
      const outcomes = await proving.play(theme, null);
      const failed = outcomes.filter(
        ({ escape, success }) => mustWork(escape, { isRoot }) && success === undefined,
      );
      expectNone(failed);
    });

    test.each(waysOf(theme))('are held back by the policy: $name', { timeout: LIMIT_MS }, async (way) => {
      const { isRoot } = proving.site;
      const { policy } = way;
      const outcomes = await proving.play(theme, policy, way);
      const forbidden = outcomes.filter(({ escape }) => !allows(escape, policy));
      const escaped = forbidden.filter(({ success }) => success !== undefined);
      tally(`escapes: ${theme.name}, ${way.name}, ${identity.name}`, {
        tries: forbidden.length,
        successes: escaped.length,
      });
      expectNone(escaped);
      // What a policy allows it must not hold back: a sandbox in which nothing works at all would pass everything above.
      const kept = outcomes.filter(
        ({ escape, success }) =>
          allows(escape, policy) && mustWork(escape, { isRoot }) && success === undefined,
      );
      expectNone(kept);
    });
  });
});
