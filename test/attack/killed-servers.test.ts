import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { asIdentity } from '../harness/confined-server.js';
import { seededRandom } from '../harness/random.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { CONTENTS, ENDLESS, type Fate, ServerLife } from './server-life.js';
import { limitMs, tally, tries } from './tally.js';
import { signalOne } from '../../testkit/signal-one.mjs';

const LIVES = tries(2);
const LIMIT_MS = limitMs(90_000);
/** From the first request to the middle of everything. */
const LONGEST_LIFE_MS = 600;
/** What a client may be told of a server that is gone. */
const LOST = ['contactLost', 'connectionClosed', 'notConnected', 'connectionFailed'];

/** Control groups these servers left. Takes them away, so that the next run finds the machine as it was. */
function groupsLeftBy(pids: ReadonlySet<string>): string[] {
  const hierarchies = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/unified'];
  const left = hierarchies.flatMap((path) => {
    const names = existsSync(path) ? readdirSync(path) : [];
    return names
      .filter((name) => name.startsWith('execwire-') && name.split('-').some((part) => pids.has(part)))
      .map((name) => join(path, name));
  });
  for (const path of left) rmdirSync(path);
  return left;
}

/** What still runs long after it should be gone. Ends it, so that the next run finds the machine as it was. */
async function survivorsOf(mark: string): Promise<number[]> {
  try {
    await gone(mark);
    return [];
  } catch {
    const pids = pidsWithArgument(mark);
    for (const pid of pids.flatMap((each) => [...childrenOf(each), each])) signalOne(pid, 'SIGKILL');
    return pids;
  }
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** What the workspace holds beside whole files. */
function litter(workspace: string): string[] {
  return readdirSync(workspace).filter((name) => {
    const path = join(workspace, name);
    if (name !== 'replaced' && name !== 'confined' && !/^\.execwire-\w+\.tmp$/.test(name)) return true;
    return !CONTENTS.includes(readFileSync(path, 'utf8'));
  });
}

function wrong(fates: readonly Fate[], { mayBeLost }: { mayBeLost: boolean }): Fate[] {
  return fates.filter(
    (fate) =>
      fate.kind === 'madeUp' || (fate.kind === 'toldLost' && (!mayBeLost || !LOST.includes(fate.code))),
  );
}

/** Uses the same policy once more, as whoever starts the server again does. Then nothing of the old one is left. */
async function nextLife(
  identity: Identity,
  around: { place: Place; folder: TestFolder; mark: string },
): Promise<void> {
  await using life = await ServerLife.begin(identity, around);
  await life.useOnce();
}

describe.concurrent.each(identities)('a server run by $name', (identity) => {
  test(`that is killed at ${LIVES} moments leaves nothing behind`, { timeout: LIMIT_MS }, async () => {
    const random = seededRandom(17);
    const killed = new Set<string>();
    const problems: unknown[] = [];
    for (let round = 0; round < LIVES; round += 1) {
      using place = new Place(identity);
      using folder = new TestFolder();
      const mark = `execwire-killed-${process.pid}-${identity.uid ?? 0}-${round}`;
      const life = await ServerLife.begin(identity, { place, folder, mark });
      const works = life.work();
      const afterMs = Math.floor(random() * LONGEST_LIFE_MS);
      // Every other one dies in the middle of everything, the others while it begins.
      if (round % 2 === 0) await life.started;
      await pause(afterMs);
      killed.add(String(life.server.pid));
      await life.server.stop('SIGKILL');
      life.stopAsking();
      const fates = await Promise.all(works);
      await life[Symbol.asyncDispose]();
      const survivors = await survivorsOf(mark);
      if (survivors.length > 0) problems.push({ afterMs, survivors });
      const bad = wrong(fates, { mayBeLost: true });
      if (bad.length > 0) problems.push({ afterMs, bad });
      await nextLife(identity, { place, folder, mark: `${mark}-next` });
      const left = litter(place.workspace);
      if (left.length > 0) problems.push({ afterMs, left });
    }
    for (const group of groupsLeftBy(killed)) problems.push({ group });
    tally(`servers killed, ${identity.name}`, { tries: LIVES, successes: problems.length });
    expect(JSON.stringify(problems)).toBe('[]');
  });

  const firstPrograms = {
    'the first program it runs': 'setsid sh -c "sleep 1000; :" "$0" & kill -9 "$PPID"; sleep 1000',
    // Each link forks the next and is gone: a look that comes in between sees nobody.
    'a program that passes itself on': [
      'pass() { [ "$1" = 0 ] && exec sh -c "sleep 1000; :" "$0"; sleep 0.02; (pass $(($1 - 1)) &); }',
      'kill -9 "$PPID"; pass 6',
    ].join('\n'),
  };
  test.each(Object.entries(firstPrograms))(
    'that is killed by %s takes its tree along',
    {
      timeout: LIMIT_MS,
    },
    async (name, script) => {
      const kind = Object.keys(firstPrograms).indexOf(name);
      const survivors: unknown[] = [];
      for (let round = 0; round < LIVES; round += 1) {
        await using server = await ServerProcess.start({
          args: ['--log-level', 'silent'],
          wrapper: asIdentity(identity),
        });
        const { client } = await dialWire(server.url);
        await client.handshake();
        const mark = `execwire-first-${process.pid}-${identity.uid ?? 0}-${kind}-${round}`;
        // A signal that does nothing: it is the program that ends the server.
        const ended = server.stop('SIGCONT');
        client.send(
          JSON.stringify({
            id: 'first',
            method: 'process/start',
            params: startParams('first', ['/bin/sh', '-c', script, mark]),
          }),
        );
        await ended;
        survivors.push(...(await survivorsOf(mark)));
      }
      tally(`servers killed by ${name}, ${identity.name}`, { tries: LIVES, successes: survivors.length });
      expect(survivors).toEqual([]);
    },
  );

  test(`that is held up at ${LIVES} moments goes on as if nothing had happened`, {
    timeout: LIMIT_MS,
  }, async () => {
    const random = seededRandom(23);
    const problems: unknown[] = [];
    for (let round = 0; round < LIVES; round += 1) {
      using place = new Place(identity);
      using folder = new TestFolder();
      const mark = `execwire-held-${process.pid}-${identity.uid ?? 0}-${round}`;
      const life = await ServerLife.begin(identity, { place, folder, mark });
      const works = life.work();
      for (let stop = 0; stop < 3; stop += 1) {
        await pause(Math.floor((random() * LONGEST_LIFE_MS) / 3));
        life.server.child.kill('SIGSTOP');
        await pause(Math.floor(random() * 200));
        life.server.child.kill('SIGCONT');
      }
      life.stopAsking();
      // Those that repeat end by themselves; the others are ended with their owner.
      const repeated = await Promise.all(works.slice(ENDLESS));
      const bad = wrong(repeated, { mayBeLost: false });
      if (bad.length > 0) problems.push({ round, bad });
      await life[Symbol.asyncDispose]();
      const ended = wrong(await Promise.all(works.slice(0, ENDLESS)), { mayBeLost: true });
      if (ended.length > 0) problems.push({ round, ended });
      const survivors = await survivorsOf(mark);
      if (survivors.length > 0) problems.push({ round, survivors });
      const left = litter(place.workspace);
      if (left.length > 0) problems.push({ round, left });
    }
    tally(`servers held up, ${identity.name}`, { tries: LIVES * 3, successes: problems.length });
    expect(JSON.stringify(problems)).toBe('[]');
  });
});
