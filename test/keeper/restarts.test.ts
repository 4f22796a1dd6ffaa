import { expect, test } from 'vitest';
import { MAX_DEATHS, MAX_FAILED_STARTS, Restarts } from '../../src/keeper/restarts.js';

const MINUTE_MS = 60_000;

test('a server that dies now and then is started again for ever', () => {
  const restarts = new Restarts();
  for (let death = 0; death < 10 * MAX_DEATHS; death += 1)
    expect(restarts.died({ wasReady: true, at: (death * MINUTE_MS) / (MAX_DEATHS - 2) })).toBeNull();
});

test('a server that dies again and again is not', () => {
  const restarts = new Restarts();
  const fates = Array.from({ length: MAX_DEATHS }, (_, death) =>
    restarts.died({ wasReady: true, at: death }),
  );
  expect(fates.slice(0, -1).every((fate) => fate === null)).toBe(true);
  expect(fates.at(-1)).toContain(`${MAX_DEATHS} times`);
});

test('a server that never gets ready is not, either; one that did counts anew', () => {
  const restarts = new Restarts();
  for (let start = 1; start < MAX_FAILED_STARTS; start += 1)
    expect(restarts.died({ wasReady: false, at: start * MINUTE_MS })).toBeNull();
  expect(restarts.died({ wasReady: true, at: 100 * MINUTE_MS })).toBeNull();
  for (let start = 1; start < MAX_FAILED_STARTS; start += 1)
    expect(restarts.died({ wasReady: false, at: (200 + start) * MINUTE_MS })).toBeNull();
  expect(restarts.died({ wasReady: false, at: 300 * MINUTE_MS })).toContain('in a row');
});
