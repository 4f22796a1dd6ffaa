// Needs: bwrap, setpriv
import { expect, test } from 'vitest';
import { identities } from '../sandbox/harness.js';
import { linesAs } from './as-identity.js';

// Root gets in anywhere.
const plain = identities.filter(({ uid }) => uid !== undefined || process.getuid?.() !== 0);

test.each(plain)(
  'a closed directory is listed and measured at once, as $name',
  { timeout: 60_000 },
  async (identity) => {
    expect(await linesAs(identity, './closed-directories.mjs')).toEqual(['ok']);
  },
);
