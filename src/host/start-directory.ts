import { accessSync, constants, statSync } from 'node:fs';
import { homeDirectory } from '../protocol/home-directory.js';

/** The user's home directory, or `/` if it cannot be entered, as for many service accounts: the same as after a login. */
export function homeToStartIn(): string {
  const home = homeDirectory();
  try {
    accessSync(home, constants.X_OK);
    return statSync(home).isDirectory() ? home : '/';
  } catch {
    return '/';
  }
}
