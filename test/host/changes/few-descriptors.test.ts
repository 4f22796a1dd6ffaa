// Needs: bwrap, setpriv
import { expect, test } from 'vitest';
import { identities } from '../sandbox/harness.js';
import { linesAs } from './as-identity.js';

test.each(identities)(
  'without descriptors, a set says so, and applies all or nothing, as $name',
  {
    timeout: 120_000,
  },
  async (identity) => {
    const lines = await linesAs(identity, './few-descriptors.mjs');
    expect(lines.at(-1)).toBe('applied');
    expect(lines.length).toBeGreaterThan(4);
    // Nothing else is said to be the reason.
    expect(lines.slice(0, -1).filter((line) => !line.includes('EMFILE'))).toEqual([]);
  },
);
