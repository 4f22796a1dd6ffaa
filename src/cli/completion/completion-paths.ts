import type { DirectoryEntry } from '../../contract/index.js';
import type { Completion } from './completion-candidates.js';
import { inTime } from './in-time.js';
import { resolvePath } from '../options/copy-location.js';
import { printable } from '../terminal/table.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** More than anyone reads. */
const MAX_CANDIDATES = 1_000;

interface PathRequest {
  readonly target: TargetFlags;
  /** Comes before every path: `box:`. */
  readonly prefix: string;
  /** What has been typed of the path. */
  readonly path: string;
  readonly directories: boolean;
}

/** Connects to another machine and lists the paths that start with what was typed. */
export async function remotePaths(request: PathRequest): Promise<Completion> {
  return await inTime(listRemote(request));
}

async function listRemote({ target, prefix, path, directories }: PathRequest): Promise<Completion> {
  const environment = await openTarget(target);
  try {
    const parent = path.slice(0, path.lastIndexOf('/') + 1);
    const typedName = path.slice(parent.length);
    const folder = await resolvePath(environment, parent === '' ? '.' : parent);
    const entries = await environment.files.readDirectory(folder);
    const candidates = entries
      .filter((entry) => isCandidate(entry, typedName) && (entry.isDirectory || !directories))
      .slice(0, MAX_CANDIDATES)
      .map(({ name, isDirectory }) => ({ word: `${prefix}${parent}${name}${isDirectory ? '/' : ''}` }))
      .sort((a, b) => (a.word < b.word ? -1 : 1));
    return { candidates, fallback: 'words' };
  } finally {
    await closeTarget(environment);
  }
}

/** Hidden files only after a typed dot. Names with control characters or invalid bytes cannot be passed to a shell. */
function isCandidate({ name }: DirectoryEntry, typedName: string): boolean {
  if (!name.startsWith(typedName) || printable(name).includes('\uFFFD')) return false;
  return typedName.startsWith('.') || !name.startsWith('.');
}
