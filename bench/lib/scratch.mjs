import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Below the home directory, because codex installs its helpers only outside of temporary directories. */
const PARENT = join(homedir(), '.cache');

const made = new Set();

/** A fresh directory that is removed at the end of this run. */
export function createScratch(label) {
  mkdirSync(PARENT, { recursive: true });
  const directory = mkdtempSync(join(PARENT, `execwire-bench-${label}-`));
  made.add(directory);
  return directory;
}

export function removeScratch() {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
  made.clear();
}
