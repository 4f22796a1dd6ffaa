import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh directory that no policy makes writable by itself: below the home, unless that is below a temporary directory,
 * as in many containers. Whoever makes it removes it.
 * @param {string} purpose Part of its name.
 */
export function makeLastingFolder(purpose) {
  const home = realpathSync(homedir());
  const isTemporary = ['/tmp', tmpdir()].some((place) => `${home}/`.startsWith(`${realpathSync(place)}/`));
  const parent = isTemporary ? '/var/tmp' : join(home, '.cache');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, `execwire-${purpose}-`));
}
