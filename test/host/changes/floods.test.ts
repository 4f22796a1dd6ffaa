// Needs: bwrap, setpriv, python3
import { expect, test } from 'vitest';
import { identities } from '../sandbox/harness.js';
import { linesAs } from './as-identity.js';

test.each(identities)(
  'a set that is full ends its programs and stays readable, as $name',
  {
    timeout: 300_000,
  },
  async (identity) => {
    const lines = await linesAs(identity, './floods.mjs');
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'ok one-file',
      'ok many-files',
      'ok many-directories',
      'ok mapped-memory',
      'ok file-without-name',
      'ok behind-a-closed-directory',
      'ok old-file-appended',
      'ok deeper-than-any-path',
      'ok sparse',
      'ok total',
      'ok nothing-left',
    ]);
  },
);
