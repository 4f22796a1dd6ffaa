import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';
import { identities, Place } from '../host/sandbox/harness.js';
import { ServerLife } from './server-life.js';
import { limitMs, tally, tries } from './tally.js';

const LIVES = tries(2);
/** From the first request to the middle of everything. */
const LONGEST_LIFE_MS = 300;
/** One of the programs leaves something behind that is not asked to end, so every server takes all of this time. */
const GRACE = ['--shutdown-grace', '300ms'];

// A life is mostly waiting.
describe.concurrent.each(identities)('a server run by $name', (identity) => {
  test('that is told to end while sandboxes are being made leaves no placeholder', {
    timeout: limitMs(60_000),
  }, async () => {
    const random = seededRandom(41);
    const left: unknown[] = [];
    for (let round = 0; round < LIVES; round += 1) {
      using place = new Place(identity);
      using folder = new TestFolder();
      const mark = `execwire-ended-${process.pid}-${identity.uid ?? 0}-${round}`;
      const life = await ServerLife.begin(identity, { place, folder, mark, args: GRACE });
      const works = life.work();
      await pause(Math.floor(random() * LONGEST_LIFE_MS));
      await life.server.stop('SIGTERM');
      const names = readdirSync(place.workspace).filter((name) =>
        ['.git', '.codex', '.agents'].includes(name),
      );
      if (names.length > 0) left.push({ round, names });
      life.stopAsking();
      await life[Symbol.asyncDispose]();
      await Promise.all(works);
    }
    tally(`servers told to end, ${identity.name}`, { tries: LIVES, successes: left.length });
    expect(JSON.stringify(left)).toBe('[]');
  });
});
