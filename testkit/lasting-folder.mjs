import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh directory that no policy makes writable by itself: below the home, unless that is below a temporary directory,
 * as in many containers, or missing. Whoever makes it removes it.
 * @param {string} purpose Part of its name.
 */
export function makeLastingFolder(purpose) {
  return mkdtempSync(join(lastingParent(), `execwire-${purpose}-`));
}

function lastingParent() {
  try {
    const home = realpathSync(homedir());
    const isTemporary = ['/tmp', tmpdir()].some((place) => `${home}/`.startsWith(`${realpathSync(place)}/`));
    if (isTemporary) return '/var/tmp';
    const cache = join(home, '.cache');
    mkdirSync(cache, { recursive: true });
    return cache;
  } catch {
    // An account without a home, or one it cannot write to.
    return '/var/tmp';
  }
}
