import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeLastingFolder } from '../../testkit/lasting-folder.mjs';

/**
 * Gives all tests a home and a state directory of their own. They start and kill login shells: one killed within the
 * profile of whoever runs the tests may leave a lock there that slows down each shell after it.
 */
export default function ownState(): () => void {
  const home = makeLastingFolder('home');
  const state = join(home, '.local', 'state');
  mkdirSync(state, { recursive: true });
  keepPackageManager();
  process.env.HOME = home;
  process.env.XDG_STATE_HOME = state;
  return () => rmSync(home, { recursive: true, force: true });
}

/** Tests that install packages use the settings and the cache that are there. */
function keepPackageManager(): void {
  const home = process.env.HOME;
  if (home === undefined) return;
  process.env.npm_config_userconfig ??= join(home, '.npmrc');
  process.env.npm_config_cache ??= join(home, '.npm');
}
