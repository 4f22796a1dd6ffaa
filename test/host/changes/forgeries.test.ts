// Needs: bwrap, setpriv, python3
import { expect, test } from 'vitest';
import { identities } from '../sandbox/harness.js';
import { linesAs } from './as-identity.js';

test.each(identities)(
  'a program cannot deceive whoever lists and applies its changes, as $name',
  {
    timeout: 60_000,
  },
  async (identity) => {
    expect(await linesAs(identity, './forgeries.mjs')).toEqual(['ok']);
  },
);
