import { randomBytes } from '../../kernel/random.js';
import type { HeldDirectory } from './held-directory.js';

/** A name in a directory that nobody else has. */
export function temporaryIn(directory: HeldDirectory): Buffer {
  return directory.at(Buffer.from(`.execwire-${randomBytes(9).toString('hex')}.tmp`));
}
