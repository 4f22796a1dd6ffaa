import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { adoptOrphans } from '../../../src/host/spawn/index.js';
import { killAllTrees } from '../../../src/host/spawn/tree-killer.js';
import { eventually, shell, uniqueSeconds } from './harness.js';
import { sleepers, zombieChildren } from './machine.js';
import { signalOne } from '../../../testkit/signal-one.mjs';

const keeperFixture = fileURLToPath(new URL('../../fixtures/tree-keeper.mjs', import.meta.url));

/** Only root becomes somebody else without a password. */
const isRoot = process.getuid?.() === 0;

type Door = readonly [string, (seconds: string) => string];

/** Ways to lose the mark while every ancestor lives. */
const attached: readonly Door[] = [
  ['limits that are set anew', (s) => `prlimit --rttime=unlimited setsid sh -c 'sleep ${s}; true'; true`],
  ...(isRoot
    ? ([
        ['su', (s) => `su nobody -s /bin/sh -c 'sleep ${s}; true'`],
        ['su in a shell', (s) => `su nobody -s /bin/sh -c 'sleep ${s}; true'; true`],
        ['su with a login shell', (s) => `su - nobody -s /bin/sh -c 'sleep ${s}; true'; true`],
        ['su in a session of its own', (s) => `setsid -w su nobody -s /bin/sh -c 'sleep ${s}; true'; true`],
        ['runuser -u', (s) => `runuser -u nobody -- sleep ${s}`],
        ['runuser -l', (s) => `runuser -l nobody -s /bin/sh -c 'sleep ${s}; true'`],
        ['su in su', (s) => `su -c "su nobody -s /bin/sh -c 'sleep ${s}; true'; true"; true`],
      ] satisfies Door[])
    : []),
];

/** Ways to lose it and the parent, too. */
const detached: readonly Door[] = [
  ['limits that are set anew', (s) => `prlimit --rttime=unlimited setsid -f sleep ${s} > /dev/null 2>&1`],
  ...(isRoot
    ? ([
        ['a job of su', (s) => `su nobody -s /bin/sh -c 'sleep ${s} > /dev/null 2>&1 & true'`],
        [
          'a job of a login shell',
          (s) => `su - nobody -s /bin/sh -c 'sleep ${s} > /dev/null 2>&1 &' 2> /dev/null`,
        ],
        ['a daemon', (s) => `runuser -u nobody -- setsid -f setsid -f sleep ${s} > /dev/null 2>&1`],
        [
          'a daemon that empties its environment',
          (s) =>
            `runuser -l nobody -s /bin/sh -c 'env -i /usr/bin/setsid -f /bin/sleep ${s} > /dev/null 2>&1'`,
        ],
        [
          'a job whose su is killed',
          (s) => `su nobody -s /bin/sh -c 'setsid sleep ${s} > /dev/null 2>&1 & kill -9 $PPID $$'; true`,
        ],
      ] satisfies Door[])
    : []),
];

/** What a server has written down for its watchdog. */
function ledgerOf(server: number): string {
  const directory = `/proc/${server}/fd`;
  const file = readdirSync(directory).find((fd) => linkOf(`${directory}/${fd}`).includes('execwire-ledger'));
  return file === undefined ? '' : readFileSync(`${directory}/${file}`, 'latin1');
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const wakeful = (seconds: string): boolean => sleepers(seconds).length === 1;

afterEach(async () => {
  await killAllTrees();
});

describe('a tree without its mark', () => {
  test.each(attached)('is found through those who started it: %s', async (_name, door) => {
    const seconds = uniqueSeconds();
    const { child, seen } = shell(door(seconds));
    await eventually(() => wakeful(seconds));
    expect(child.survivors()).toEqual(expect.arrayContaining([child.pid, ...sleepers(seconds)]));
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    await seen.untilClosed();
  });

  test.each(detached)('is found when they are gone: %s', async (_name, door) => {
    adoptOrphans();
    const seconds = uniqueSeconds();
    const { child, seen } = shell(`${door(seconds)}; sleep ${seconds}`);
    await eventually(() => sleepers(seconds).length === 2);
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    await seen.untilClosed();
  });

  test.each(detached)('is found when all of it but this is gone: %s', async (_name, door) => {
    adoptOrphans();
    const seconds = uniqueSeconds();
    const { child, seen } = shell(door(seconds));
    await seen.untilClosed();
    await eventually(() => wakeful(seconds));
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    await eventually(() => zombieChildren().length === 0);
  });

  test.runIf(isRoot).each(detached)('is not taken for another one: %s', async (_name, door) => {
    adoptOrphans();
    const [mine, other] = [uniqueSeconds(), uniqueSeconds()];
    const both = [mine, other].map((seconds) => shell(`${door(seconds)}; sleep ${seconds}`));
    await eventually(() => [mine, other].every((seconds) => sleepers(seconds).length === 2));
    expect(await both[0]?.child.killTree()).toBe(true);
    expect([mine, other].map((seconds) => sleepers(seconds).length)).toEqual([0, 2]);
    expect(await both[1]?.child.killTree()).toBe(true);
    expect(sleepers(other)).toEqual([]);
  });

  test.each(attached)('is caught while it forks: %s', async (_name, door) => {
    const seconds = uniqueSeconds();
    const forks = `i=0; while [ $i -lt 200 ]; do setsid sleep ${seconds} & i=$((i+1)); done; wait; true`;
    const { child, seen } = shell(door(seconds).replace(`sleep ${seconds}`, forks.replaceAll("'", '')));
    await eventually(() => sleepers(seconds).length > 10 || seen.end !== undefined);
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
  });
});

/** The same in a process of its own, which can be killed, and can lack what root can do. */
class Keeper implements AsyncDisposable {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(scripts: readonly string[], wrapper: readonly string[] = []) {
    const [program = '', ...args] = [...wrapper, process.execPath, keeperFixture, ...scripts];
    this.process = spawn(program, args);
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async answer(): Promise<string> {
    return ((await this.#lines.next()) as { value: string }).value;
  }

  async ask(line: string): Promise<string> {
    this.process.stdin.write(`${line}\n`);
    return this.answer();
  }

  async kill(): Promise<void> {
    const exit = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    await this.ask('all');
    await this.kill();
  }
}

describe('the watchdog', () => {
  // A plain user cannot read the number of a tree: see below.
  test.each([...attached, ...(isRoot ? detached : [])])(
    'finds a tree without its mark: %s',
    async (_name, door) => {
      const seconds = uniqueSeconds();
      await using keeper = new Keeper([`${door(seconds)}; sleep 1000`]);
      await eventually(() => wakeful(seconds));
      await keeper.kill();
      await eventually(() => sleepers(seconds).length === 0);
    },
  );
});

describe('where the number of a tree cannot be read', () => {
  /** As root in a container and every plain user are. */
  const lesser = isRoot ? ['setpriv', '--bounding-set=-sys_nice', '--inh-caps=-sys_nice'] : [];

  test.each(detached)('an orphan goes with the only tree it can be of: %s', async (_name, door) => {
    const [first, second] = [uniqueSeconds(), uniqueSeconds()];
    await using keeper = new Keeper([`${door(first)}; sleep ${first}`, `sleep ${second}`], lesser);
    await eventually(() => sleepers(first).length === 2 && sleepers(second).length === 1);
    expect(await keeper.answer()).toBe('up');
    expect(await keeper.ask('1')).toBe('true');
    expect(sleepers(first).length).toBe(2);
    expect(await keeper.ask('0')).toBe('true');
    expect(sleepers(first)).toEqual([]);
  });

  test('an orphan that may be of another tree is spared, until that is killed, too', async () => {
    const [first, second] = [uniqueSeconds(), uniqueSeconds()];
    const [, orphan] = detached.at(-1) ?? [];
    await using keeper = new Keeper([`sleep ${first}`, `${orphan?.(second)}; sleep ${second}`], lesser);
    await eventually(() => sleepers(second).length === 2 && sleepers(first).length === 1);
    expect(await keeper.answer()).toBe('up');
    expect(await keeper.ask('1')).toBe('true');
    expect(sleepers(second).length).toBe(1);
    expect(await keeper.ask('0')).toBe('true');
    expect(sleepers(second)).toEqual([]);
  });

  test.each([
    ['', 'node'],
    [', even if the server is held up when it starts that', 'held'],
  ])('what another child of the server leaves behind is nobody to kill%s', async (_when, how) => {
    const [tree, stranger] = [uniqueSeconds(), uniqueSeconds()];
    await using keeper = new Keeper([`sleep ${tree}`], lesser);
    expect(await keeper.answer()).toBe('up');
    // Once it is told of, the daemon is there and its parents are gone.
    await keeper.ask(`${how} setsid -f sleep ${stranger}`);
    await eventually(() => wakeful(stranger) && wakeful(tree));
    expect(await keeper.ask('0')).toBe('true');
    expect([tree, stranger].map((seconds) => sleepers(seconds).length)).toEqual([0, 1]);
    for (const pid of sleepers(stranger)) signalOne(pid, 'SIGKILL');
  });

  test.each(detached)('the watchdog is told of orphans: %s', async (_name, door) => {
    const seconds = uniqueSeconds();
    await using keeper = new Keeper([`${door(seconds)}; sleep 1000`], lesser);
    await eventually(() => wakeful(seconds));
    await eventually(() => ledgerOf(keeper.process.pid ?? 0).includes(`${sleepers(seconds)[0]} 0 `));
    await keeper.kill();
    await eventually(() => sleepers(seconds).length === 0);
  });
});
