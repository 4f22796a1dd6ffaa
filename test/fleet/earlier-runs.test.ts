import { expect, test, vi } from 'vitest';
import type { Bus } from '../../src/fleet/bus/bus.js';
import { MemberChannels, type MemberChannelsOptions } from '../../src/fleet/member-channels.js';
import { subjectsOf } from '../../src/fleet/subjects.js';

const subjects = subjectsOf('f');
const OWN = 500;

/** A machine that hears of channels it does not have. `hear` names the run that each of them belongs to. */
function openMachine(isThere: MemberChannelsOptions['isThere']) {
  let unknown: (subject: string) => void = () => undefined;
  const refused: string[] = [];
  const bus = {
    carry: (_: string, callback: typeof unknown) => (unknown = callback),
    answer: () => undefined,
    refuse: (to: string) => void refused.push(to.slice(to.lastIndexOf('.') + 1)),
  } as unknown as Bus;
  const server = {} as MemberChannelsOptions['server'];
  new MemberChannels({ bus, subjects, name: 'a', epoch: OWN, isThere, server }).listen();
  const hear = (channel: string, run: number): void =>
    unknown(subjects.toMachine('a', 'alice', `connection.${channel}-${run.toString(36)}`));
  return { hear, refused };
}

test('channels of an earlier run are refused, although its clock was ahead', async () => {
  const isThere = vi.fn<(run: number) => Promise<boolean>>().mockResolvedValue(false);
  const { hear, refused } = openMachine(isThere);
  hear('1', OWN + 100);
  hear('2', OWN + 100);
  const token = (OWN + 100).toString(36);
  await expect.poll(() => refused).toEqual([`1-${token}`, `2-${token}`]);
  // From now on it is known to be over.
  hear('3', OWN + 100);
  expect(refused).toContain(`3-${token}`);
  expect(isThere).toHaveBeenCalledTimes(1);
});

test('channels of our own that are no more are refused at once', () => {
  const { hear, refused } = openMachine(() => Promise.reject(new Error('nobody has to be asked')));
  hear('1', OWN);
  expect(refused).toEqual([`1-${OWN.toString(36)}`]);
});

test('channels of a run that is there are its own business, whatever its number', async () => {
  const asked: number[] = [];
  const { hear, refused } = openMachine((run) => {
    asked.push(run);
    return Promise.resolve(run !== 7);
  });
  hear('1', OWN - 100);
  await expect.poll(() => asked).toEqual([OWN - 100]);
  // The first question is over at some time.
  await expect
    .poll(() => {
      hear('1', 7);
      return refused.at(0);
    })
    .toBe('1-7');
  expect(asked).toEqual([OWN - 100, 7]);
  expect(refused).not.toContain(`1-${(OWN - 100).toString(36)}`);
});
