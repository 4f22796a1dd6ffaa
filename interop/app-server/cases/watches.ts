import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppCase, answers, type CaseBench } from '../case.js';

const DEAF_AFTER_MS = 3_000;

/** All paths reported for a watch so far. */
function changed(bench: CaseBench, watchId = 'w'): Set<string> {
  const own = bench.client.notifications('fs/changed').filter(({ params }) => params['watchId'] === watchId);
  return new Set(own.flatMap(({ params }) => params['changedPaths'] as string[]));
}

/** Watches, acts, waits until `awaited` was reported, and says all that was reported until then. */
function watches(
  name: string,
  options: { path?: string; awaited: readonly string[] },
  act: (bench: CaseBench) => void,
  prepare: (bench: CaseBench) => void = () => undefined,
): AppCase {
  return {
    name: `fs/watch: ${name}`,
    play: async (bench) => {
      prepare(bench);
      const path = bench.at(options.path ?? '.');
      const answer = await bench.ask('fs/watch', { watchId: 'w', path });
      act(bench);
      const awaited = options.awaited.map((each) => bench.at(each));
      await bench.client.wire.until(() => awaited.every((each) => changed(bench).has(each)));
      const unwatched = await bench.ask('fs/unwatch', { watchId: 'w' });
      // Whether the directory itself is reported beside its entries depends on the moment.
      const reported = [...changed(bench)].filter((each) => awaited.includes(each) || each !== bench.folder);
      const names = reported.map((each) => posix.relative(bench.folder, each)).sort();
      return { answer, names, unwatched };
    },
  };
}

const write = (name: string) => (bench: CaseBench) => writeFileSync(bench.at(name), 'text');

/** `fs/watch`, `fs/unwatch` and `fs/changed`. */
export const watchCases: readonly AppCase[] = [
  ...answers('fs/watch', {
    'no id': (bench) => ({ path: bench.folder }),
    'an id that is a number': (bench) => ({ watchId: 7, path: bench.folder }),
    'a relative path': { watchId: 'w', path: 'relative' },
    'no path': { watchId: 'w' },
  }),
  ...answers('fs/unwatch', { 'an id nobody knows': { watchId: 'never' }, 'no id': {} }),
  {
    name: 'fs/watch: one watch per id, also an empty one',
    play: async (bench) => {
      const path = `${bench.folder}/x/..`;
      return [
        await bench.ask('fs/watch', { watchId: '', path }),
        await bench.ask('fs/watch', { watchId: '', path }),
        await bench.ask('fs/unwatch', { watchId: '' }),
        await bench.ask('fs/watch', { watchId: '', path }),
        await bench.ask('fs/unwatch', { watchId: '' }),
        await bench.ask('fs/unwatch', { watchId: '' }),
      ];
    },
  },
  watches('a new file in a directory', { awaited: ['new'] }, write('new')),
  watches('a new directory in a directory', { awaited: ['new'] }, (bench) => mkdirSync(bench.at('new'))),
  watches(
    'a file written in a directory',
    { awaited: ['old'] },
    (bench) => appendFileSync(bench.at('old'), 'x'),
    write('old'),
  ),
  watches(
    'a mode changed in a directory',
    { awaited: ['old'] },
    (bench) => chmodSync(bench.at('old'), 0o700),
    write('old'),
  ),
  watches(
    'a file renamed in a directory',
    { awaited: ['old', 'new'] },
    (bench) => renameSync(bench.at('old'), bench.at('new')),
    write('old'),
  ),
  watches(
    'a file removed from a directory',
    { awaited: ['old'] },
    (bench) => rmSync(bench.at('old')),
    write('old'),
  ),
  watches(
    'what is further below is not reported',
    { awaited: ['last'] },
    (bench) => {
      writeFileSync(bench.at('sub/deep'), '');
      writeFileSync(bench.at('last'), '');
    },
    (bench) => mkdirSync(bench.at('sub')),
  ),
  watches(
    'a file written',
    { path: 'old', awaited: ['old'] },
    (bench) => appendFileSync(bench.at('old'), 'x'),
    write('old'),
  ),
  watches(
    'a file removed',
    { path: 'old', awaited: ['old'] },
    (bench) => rmSync(bench.at('old')),
    write('old'),
  ),
  watches('a directory that comes later', { path: 'later', awaited: ['later'] }, (bench) =>
    mkdirSync(bench.at('later')),
  ),
  watches('a file that comes later', { path: 'later', awaited: ['later'] }, write('later')),
  watches(
    'a file replaced',
    { path: 'old', awaited: ['old'] },
    (bench) => {
      writeFileSync(bench.at('new'), 'x');
      renameSync(bench.at('new'), bench.at('old'));
    },
    write('old'),
  ),
  {
    name: 'fs/watch: a file replaced twice',
    play: async (bench) => {
      const replace = (): void => {
        writeFileSync(bench.at('new'), 'x');
        renameSync(bench.at('new'), bench.at('watched'));
      };
      writeFileSync(bench.at('watched'), '');
      await bench.ask('fs/watch', { watchId: 'w', path: bench.at('watched') });
      mkdirSync(bench.at('other'));
      await bench.ask('fs/watch', { watchId: 'other', path: bench.at('other') });
      replace();
      await bench.client.wire.until(() => changed(bench).size > 0);
      bench.client.wire.arrivals.length = 0;
      replace();
      // Changes are collected for a while, for each watch by itself. A server that goes deaf says nothing, however long.
      writeFileSync(bench.at('other/last'), '');
      await bench.client.wire.until(() => changed(bench, 'other').size > 0);
      await Promise.race([bench.client.wire.until(() => changed(bench).size > 0), delay(DEAF_AFTER_MS)]);
      const seen = changed(bench).size;
      for (const watchId of ['w', 'other']) await bench.ask('fs/unwatch', { watchId });
      return seen;
    },
  },
];
