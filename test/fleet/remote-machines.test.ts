// Needs: nats-server
import { afterEach, expect, test } from 'vitest';
import { Fleet, parseSelector } from '../../src/fleet/index.js';
import { RegistrySite } from '../registry/registry-site.js';
import { guardedFleet } from './guarded-fleet.js';

const { of, as } = guardedFleet();
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

async function connect(name: Parameters<typeof of>[0]): Promise<Fleet> {
  const fleet = await Fleet.connect(of(name));
  opened.push(fleet);
  return fleet;
}

/** A registry whose gateway has the credentials of somebody. */
async function openRegistry(
  name: Parameters<typeof of>[0],
): Promise<{ site: RegistrySite; failed: () => boolean }> {
  const site = await RegistrySite.open();
  opened.push(site);
  const gateway = await connect(name);
  let hasFailed = false;
  gateway.announceRemote(
    () => site.machines(),
    () => (hasFailed = true),
  );
  return { site, failed: () => hasFailed };
}

test('machines of a registry are listed with their state, and chosen by selectors', async () => {
  const { site } = await openRegistry('gate');
  const fleet = await connect('alice');
  const states = async (selector = ''): Promise<string[]> => {
    const found = await fleet.listRemote(parseSelector(selector));
    return found.map(({ id, state, gateway, clients }) => `${id} ${state} ${gateway} ${clients}`);
  };
  await expect.poll(() => states()).toEqual([]);
  const { line } = await site.machine('a');
  await site.machine('b');
  const client = await site.client('stream');
  expect(await line.next()).toBe('stream resume');
  expect(await states()).toEqual(['a connected gate 1', 'b connected gate 0']);
  expect(await states('name=b')).toEqual(['b connected gate 0']);
  expect(await states('remote,gateway=gate,name!=b')).toEqual(['a connected gate 1']);
  expect(await states('pool=ci')).toEqual([]);
  expect(await states('gateway=other')).toEqual([]);
  line.hangUp();
  await client.closed;
  expect(await states('name=a')).toEqual(['a away gate 0']);
  // They are no members of the fleet.
  expect((await fleet.list()).map(({ name }) => name)).toEqual(['good']);
});

test('a registry that knows its public address tells those of its machines', async () => {
  const site = await RegistrySite.open('https://gateway.example/prefix/');
  opened.push(site);
  await site.register('a');
  const { sinceMs, ...rest } = site.machines()[0] ?? { sinceMs: -1 };
  expect(sinceMs).toBeGreaterThanOrEqual(0);
  const url = 'https://gateway.example/prefix/cloud/environment/a';
  expect(rest).toEqual({ id: 'a', state: 'away', clients: 0, url });
});

test('hundreds of machines are told in several messages', async () => {
  const gateway = await connect('gate');
  const machines = Array.from({ length: 450 }, (_, index) => ({
    id: `m${index}`,
    state: 'connected' as const,
    clients: 0,
    sinceMs: 0,
  }));
  let failed = false;
  gateway.announceRemote(
    () => machines,
    () => (failed = true),
  );
  const fleet = await connect('alice');
  await expect.poll(async () => (await fleet.listRemote()).length).toBe(450);
  expect(failed).toBe(false);
});

test('only a gateway may tell of such machines, and only clients that reach all machines hear of them', async () => {
  const { site, failed } = await openRegistry('alice');
  await site.machine('a');
  await expect.poll(failed).toBe(true);
  const fleet = await connect('alice');
  // Nobody answers, and NATS says so at once.
  expect(await fleet.listRemote()).toEqual([]);
  const { site: other } = await openRegistry('gate');
  await other.machine('a');
  await expect.poll(async () => (await fleet.listRemote()).length).toBe(1);
  expect(await (await connect('carol')).listRemote()).toEqual([]);
  const evil = await as('evil');
  const refused = new Promise<string>((resolve) => {
    evil.subscribe('ew.f.remotes', {
      callback: (error) => {
        if (error) resolve(error.message);
      },
    });
  });
  expect(await refused).toMatch(/permissions violation/i);
});
