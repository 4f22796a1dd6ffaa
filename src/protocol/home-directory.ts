import { homedir } from 'node:os';

/** The user's home directory; `/`, as in most containers, for a user who has no account and no `HOME`. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}
