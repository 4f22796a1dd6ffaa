import { expect, test } from 'vitest';
import { isWorthwhile } from '../../src/host/sandbox/launch/spare-sandboxes.js';

test.each([
  ['right behind each other', 7, 1_000, false],
  ['with a pause', 25, 1_000, true],
  ['as late as it is kept', 1_000, 1_000, true],
  ['later than it is kept', 1_001, 1_000, false],
])(
  'a sandbox is made ahead for programs that come %s: %d ms of %d, %s',
  (_how, sinceLastMs, idleMs, made) => {
    expect(isWorthwhile(sinceLastMs, idleMs)).toBe(made);
  },
);
