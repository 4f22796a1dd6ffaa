import type { Theme } from './escape.js';
import { kernel } from './kernel.js';
import { mounts } from './mounts.js';
import { network } from './network.js';
import { privileges } from './privileges.js';
import { processes } from './processes.js';
import { protectedNames } from './protected-names.js';
import { secrets } from './secrets.js';
import { sharing } from './sharing.js';
import { writing } from './writing.js';

/** Where it makes a difference whether a program has a terminal. */
export const aboutTerminals: readonly Theme[] = [kernel, processes, sharing];

/** Everything that is tried. */
export const themes: readonly Theme[] = [
  writing,
  mounts,
  kernel,
  processes,
  sharing,
  network,
  privileges,
  protectedNames,
  secrets,
];

/** Everything in two runs: most attempts share a workspace, some have roots of their own. */
export const together: readonly Theme[] = [
  { name: 'all', escapes: themes.filter(({ ownRoots }) => !ownRoots).flatMap(({ escapes }) => escapes) },
  ...themes.filter(({ ownRoots }) => ownRoots),
];
