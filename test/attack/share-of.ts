import { type Identity, identities } from '../host/sandbox/harness.js';
import { isLong } from './tally.js';

/** What one of the identities tries: in the short form each thing is tried by one of them, in the long form by all. */
export function shareOf<T>(identity: Identity, all: readonly T[]): readonly T[] {
  if (isLong) return all;
  const own = identities.indexOf(identity);
  return all.filter((_, index) => index % identities.length === own);
}
