import { accessSync, constants, statSync } from 'node:fs';

/** Where programs are looked for when an environment has no PATH. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** A program as somebody names it. */
export interface NamedProgram {
  readonly name: string;
  /** What a relative path is relative to. */
  readonly cwd: string;
  /** As in the environment of who will run it. */
  readonly path: string | undefined;
}

/** `denied`: a file that may not be executed. */
export type ProgramVerdict = 'runnable' | 'denied' | 'absent';

export interface FoundProgram {
  readonly path: string;
  readonly verdict: 'runnable' | 'denied';
}

/**
 * Where a program may be, by preference. A name with a slash is a path; any other is looked for in the directories of
 * PATH, where an empty one means the current directory, as it always has.
 */
export function* programPlaces({ name, cwd, path = DEFAULT_PATH }: NamedProgram): Generator<string> {
  if (name.includes('/')) yield within(cwd, name);
  else
    for (const directory of path.split(':'))
      yield within(cwd, directory === '' ? name : `${directory}/${name}`);
}

/** The first that can be run, as a shell finds it; otherwise the first that is there at all; null if it is nowhere. */
export function findProgram(
  program: NamedProgram,
  judge: (path: string) => ProgramVerdict = judgeProgram,
): FoundProgram | null {
  let denied: FoundProgram | null = null;
  for (const path of programPlaces(program)) {
    const verdict = judge(path);
    if (verdict === 'runnable') return { path, verdict };
    if (verdict === 'denied') denied ??= { path, verdict };
  }
  return denied;
}

/** What cannot be looked at is not there, as for every shell: a directory we may not enter says nothing of the program. */
export function judgeProgram(path: string): ProgramVerdict {
  if (!isFile(path)) return 'absent';
  return mayExecute(path) ? 'runnable' : 'denied';
}

export function mayExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Not made shorter: what `..` means depends on the links before it. */
function within(cwd: string, path: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
