import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Upgrades } from '../../../src/server/durable/upgrades.js';
import { silentLog } from '../../../src/server/log.js';

test('nothing is handed over while a connection has something to send, though all were at rest before', async () => {
  const seen: string[] = [];
  let turnsUntilRest = 3;
  let left: () => void = () => undefined;
  const hasLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const upgrades = new Upgrades({
    succession: {
      generation: 1,
      failedUpgrade: undefined,
      prepare: async () => ({ generation: 2 }),
      dismiss: () => undefined,
      leave: () => left(),
    },
    log: silentLog,
    restDoors: async () => undefined,
    rest: async () => void seen.push('rest'),
    isAtRest: () => {
      turnsUntilRest -= 1;
      return turnsUntilRest === 0;
    },
    handOver: () => void seen.push('handOver'),
  });
  await upgrades.upgrade({});
  await hasLeft;
  await nextTurn();
  expect(seen).toEqual(['rest', 'rest', 'rest', 'handOver']);
});
