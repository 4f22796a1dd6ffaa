import { setTimeout as delay } from 'node:timers/promises';
import type { DirectoryEntry } from '../../contract/index.js';
import type { Completion } from './completion-candidates.js';
import { resolvePath } from '../options/copy-location.js';
import { printable } from '../terminal/table.js';
import { closeTarget, openTarget } from '../options/target-options.js';

/** Whoever presses Tab does not wait longer than this. */
const PATIENCE_MS = 3_000;
/** More than anybody reads. */
const MAX_CANDIDATES = 1_000;

interface PathRequest {
  readonly target: string | undefined;
  /** Stands before every path: `box:`. */
  readonly prefix: string;
  /** As far as it is typed. */
  readonly path: string;
  readonly directories: boolean;
}

/** Paths on another machine that begin as typed. Connects to it for that. */
export async function remotePaths(request: PathRequest): Promise<Completion> {
  const nothing = delay(PATIENCE_MS, undefined, { ref: false }).then((): Completion => {
    throw new Error('too late');
  });
  return await Promise.race([listThere(request), nothing]);
}

async function listThere({ target, prefix, path, directories }: PathRequest): Promise<Completion> {
  const environment = await openTarget(target === undefined ? {} : { environment: target });
  try {
    const typed = path.slice(0, path.lastIndexOf('/') + 1);
    const begun = path.slice(typed.length);
    const folder = await resolvePath(environment, typed === '' ? '.' : typed);
    const entries = await environment.files.readDirectory(folder);
    const candidates = entries
      .filter((entry) => isWanted(entry, begun) && (entry.isDirectory || !directories))
      .slice(0, MAX_CANDIDATES)
      .map(({ name, isDirectory }) => ({ word: `${prefix}${typed}${name}${isDirectory ? '/' : ''}` }))
      .sort((a, b) => (a.word < b.word ? -1 : 1));
    return { candidates, fallback: 'words' };
  } finally {
    await closeTarget(environment);
  }
}

/** Hidden files only for those who ask for them; names with control characters or lost bytes cannot be handed to a shell. */
function isWanted({ name }: DirectoryEntry, begun: string): boolean {
  if (!name.startsWith(begun) || printable(name).includes('\uFFFD')) return false;
  return begun.startsWith('.') || !name.startsWith('.');
}
