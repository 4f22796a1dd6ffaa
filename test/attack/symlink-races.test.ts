import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import type { WireAnswer } from '../../testkit/wire-client.mjs';
import { identities } from '../host/sandbox/harness.js';
import { type Attack, attacks, type Protection, tells } from './file-operations.js';
import { RaceArena } from './race-arena.js';
import { limitMs, tally, tries } from './tally.js';

/** Tries for each operation, protection and user: 500 for an operation with two protections. More are for a long run. */
const TRIES = tries(125);

/** Tries to win the race where nothing protects. Far fewer will do. */
const UNPROTECTED_TRIES = 2_000;

/** Tries under way at a time: the server shall be busy, not waiting for us. */
const AT_A_TIME = 8;

/** A generous bound for one try on a busy machine. */
const TIMEOUT_MS = limitMs(60_000);

interface Outcome {
  done: number;
  refused: number;
  readonly told: WireAnswer[];
}

async function run(
  arena: RaceArena,
  attack: Attack,
  {
    more = {},
    times,
    until = () => false,
  }: { more?: object; times: number; until?: (outcome: Outcome) => boolean },
): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: 0, told: [] };
  for (let from = 0; from < times && !until(outcome); from += AT_A_TIME) {
    const indexes = Array.from({ length: Math.min(AT_A_TIME, times - from) }, (_, offset) => from + offset);
    const outcomes = await Promise.all(indexes.map((index) => attack.attempt(arena, more, index)));
    for (const answers of outcomes) {
      if (answers.some(({ error }) => error !== undefined)) outcome.refused += 1;
      else outcome.done += 1;
      outcome.told.push(...answers.filter(tells));
    }
    // What has been seen is not needed again, and there will be many.
    arena.host.client.arrivals.length = 0;
  }
  return outcome;
}

function protectionOf(protection: Protection, arena: RaceArena): object {
  if (protection === 'policy') return { sandbox: arena.sandbox() };
  return protection === 'noFollow' ? { followSymlinks: false } : {};
}

describe.each(identities)('a directory swapped for a link, against a server of $name', (identity) => {
  const cases = attacks.flatMap((attack) => attack.protections.map((protection) => ({ attack, protection })));
  let host: ConfinedServer;
  beforeAll(async () => {
    host = await ConfinedServer.start(identity);
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  test.each(cases)(
    '$attack.name stays inside ($protection)',
    async ({ attack, protection }) => {
      await using arena = await RaceArena.open(host, identity);
      const { told, done, refused } = await run(arena, attack, {
        more: protectionOf(protection, arena),
        times: TRIES,
      });
      const damage = arena.damage();
      tally(`${attack.name}, ${protection}, ${identity.name}`, {
        tries: done + refused,
        successes: told.length + (damage === null ? 0 : 1),
      });
      expect(told).toEqual([]);
      expect(damage).toBeNull();
      expect(done + refused).toBe(TRIES);
    },
    TIMEOUT_MS,
  );

  test('gets out of a tree that nothing protects, so that the race is one', async () => {
    await using arena = await RaceArena.open(host, identity);
    const [read] = attacks;
    // Won and lost: it depends on the moment.
    const isRace = ({ told, done, refused }: Outcome): boolean =>
      told.length > 0 && done + refused > told.length;
    const outcome = read && (await run(arena, read, { times: UNPROTECTED_TRIES, until: isRace }));
    expect(outcome && isRace(outcome)).toBe(true);
  });
});
