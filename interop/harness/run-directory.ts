import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Codex refuses to install its sandbox helper when its home lies below a temp directory, and a workspace-write
// sandbox may write to /tmp: so nothing of a run lives there.
const base = join(homedir(), '.cache', 'execwire-interop');

/** The folders of one test: two homes that share nothing, the workspace Codex works in, and a place outside it. */
export interface RunDirectory extends AsyncDisposable {
  /** What all of them are in. */
  readonly root: string;
  readonly clientHome: string;
  readonly serverHome: string;
  readonly workspace: string;
  readonly outside: string;
}

/** Makes fresh folders for one test. They are removed when it ends. */
export async function openRunDirectory(): Promise<RunDirectory> {
  await mkdir(base, { recursive: true });
  const root = await mkdtemp(join(base, 'run-'));
  const folder = async (name: string): Promise<string> => {
    await mkdir(join(root, name));
    return join(root, name);
  };
  return {
    root,
    clientHome: await folder('client-home'),
    serverHome: await folder('server-home'),
    workspace: await folder('workspace'),
    outside: await folder('outside'),
    // Codex's own background tasks may still be writing to its home for a moment after it was killed.
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
