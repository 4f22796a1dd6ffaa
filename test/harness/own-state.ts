import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives the servers of all tests a state directory of their own. */
export default function ownState(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'execwire-state-'));
  process.env.XDG_STATE_HOME = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
