import { accessSync, constants, statSync } from 'node:fs';

/** The search path if the environment has no PATH. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** A program as the caller names it. */
export interface NamedProgram {
  readonly name: string;
  /** Base of relative paths. */
  readonly cwd: string;
  /** PATH in the environment of the process that will run it. */
  readonly path: string | undefined;
}

/** `denied`: the file exists but may not be executed. */
export type ProgramVerdict = 'runnable' | 'denied' | 'absent';

export interface FoundProgram {
  readonly path: string;
  readonly verdict: 'runnable' | 'denied';
}

/**
 * Candidate paths of a program, in order of preference. A name with a slash is a path; any other is searched for in
 * PATH, where an empty entry means the current directory, as in every shell.
 */
export function* programPlaces({ name, cwd, path = DEFAULT_PATH }: NamedProgram): Generator<string> {
  if (name.includes('/')) yield within(cwd, name);
  else
    for (const directory of path.split(':'))
      yield within(cwd, directory === '' ? name : `${directory}/${name}`);
}

/** The first runnable candidate, as a shell would choose; otherwise the first that exists; null if there is none. */
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

/**
 * A file we cannot look at counts as absent, as in every shell: an unreadable directory says nothing about the program.
 */
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

/** Not normalized: what `..` means depends on the symbolic links before it. */
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
