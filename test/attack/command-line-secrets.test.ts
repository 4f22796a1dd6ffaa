import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { identities, Place } from '../host/sandbox/harness.js';
import { watchFor } from './command-line-watch.js';
import { limitMs, tries } from './tally.js';

/** So many programs are started, each with a secret of its own in its environment. */
const PROGRAMS = tries(24);
/** Enough for a machine that is busy, however many programs there are. */
const LIMIT_MS = limitMs(60_000);

/** In nobody else's command line, on a machine where others work too. */
const WORD = `hidden${randomBytes(6).toString('hex')}`;

const environment = (number: number) => ({ PATH: '/usr/bin:/bin', SECRET: `${WORD}-${number}` });

describe.each(identities)(
  'nobody sees the environment of a confined program of $name in a command line',
  (identity) => {
    test(
      'while its sandbox waits for it',
      async () => {
        const place = new Place(identity);
        makeProtected(place, identity);
        await using host = await ConfinedServer.start(identity, { place });
        await untilOneWaits(host.server.pid, () => host.run(['true']));
        const { rounds, found } = await watchFor(WORD, async () => {
          for (let number = 0; number < PROGRAMS; number += 1)
            await host.run(['sleep', '0.02'], { env: environment(number) });
        });
        expect(rounds).toBeGreaterThan(PROGRAMS);
        expect(found).toEqual([]);
      },
      LIMIT_MS,
    );

    test.each([
      ['on pipes', {}, PROGRAMS],
      ['on a terminal', { tty: true }, PROGRAMS],
      ['under another name', { arg0: 'other' }, PROGRAMS / 4],
      ['on a terminal under another name', { tty: true, arg0: 'other' }, PROGRAMS / 4],
    ])(
      'while its sandbox is made, %s',
      async (_how, more, programs) => {
        await using host = await ConfinedServer.start(identity);
        const { found } = await watchFor(WORD, async () => {
          for (let first = 0; first < programs; first += 4)
            await Promise.all(
              [0, 1, 2, 3].map((next) => host.run(['true'], { ...more, env: environment(first + next) })),
            );
        });
        expect(found).toEqual([]);
      },
      LIMIT_MS,
    );

    test(
      'while its processes are counted',
      async () => {
        await using host = await ConfinedServer.start(identity);
        const sandbox = host.sandbox({ maxProcesses: 30 });
        const { found } = await watchFor(WORD, async () => {
          for (let number = 0; number < PROGRAMS / 4; number += 1)
            await host.run(['true'], { sandbox, env: environment(number) });
        });
        expect(found).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);

test('the observer does see what is in a command line', async () => {
  const { found } = await watchFor(WORD, async () => {
    const child = spawn('/bin/sleep', ['1'], { argv0: `${WORD}-argument` });
    await once(child, 'close');
  });
  expect(found.map(([secret]) => secret)).toEqual([`${WORD}-argument`]);
});
