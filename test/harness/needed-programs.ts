import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Programs a machine may lack. A file that cannot do without one of them says so on a line of its own, `// Needs: tmux, rg`.
 * Tests that import it are left out where the program is missing.
 */
export const OPTIONAL_PROGRAMS = [
  'openssl',
  'git',
  'python3',
  'tmux',
  'ssh',
  'sshd',
  'rg',
  'bwrap',
  'top',
  'setpriv',
  'zsh',
  'fish',
  'curl',
  'wget',
  'nats-server',
  'chromium',
  'pip3',
  'time',
  'cargo',
  'apt-get',
  'javac',
  'go',
  'docker',
] as const;

export type OptionalProgram = (typeof OPTIONAL_PROGRAMS)[number];

/** What else a test may need: somebody who can log in. Not everybody has an account, and not every account a shell. */
const LOGIN_SHELL = 'a login shell';

/** Servers such as sshd are not in the PATH of a plain user. */
const SYSTEM_DIRECTORIES = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export function isInstalled(program: OptionalProgram): boolean {
  const directories = [...(process.env.PATH ?? '').split(':'), ...SYSTEM_DIRECTORIES];
  return directories.some((directory) => isExecutable(join(directory, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the system knows us by a name. Some programs do nothing for whom it does not. */
export function hasAccount(): boolean {
  return shellOfAccount() !== undefined;
}

function canLogIn(): boolean {
  return !/\/(nologin|false)$/.test(shellOfAccount() ?? '/bin/false');
}

function shellOfAccount(): string | undefined {
  try {
    return userInfo().shell ?? '';
  } catch {
    return undefined;
  }
}

/** A file of tests that is left out, by its path below `root`, and why. */
export interface LeftOut {
  readonly file: string;
  readonly why: string;
}

/** The tests below `root` that need what is missing here. */
export function filesLeftOut(root: string): LeftOut[] {
  return testFiles(root).flatMap((file) => {
    const why = whyNot(join(root, file));
    return why === null ? [] : [{ file, why }];
  });
}

/** Why a file cannot be run here, null if it can. */
export function whyNot(file: string): string | null {
  if (missingHere().size === 0) return null;
  const lacking = [...needsOf(file)].filter((need) => missingHere().has(need));
  return lacking.length === 0 ? null : `needs ${lacking.join(' and ')}`;
}

let missing: ReadonlySet<string> | undefined;

function missingHere(): ReadonlySet<string> {
  missing ??= new Set([
    ...OPTIONAL_PROGRAMS.filter((program) => !isInstalled(program)),
    ...(canLogIn() ? [] : [LOGIN_SHELL]),
  ]);
  return missing;
}

export function testFiles(root: string): string[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .sort();
}

/** What a file and those it imports say they need. The product itself needs nothing. */
export function needsOf(file: string, visited = new Set<string>()): Set<string> {
  if (visited.has(file) || file.includes('/src/') || !existsSync(file)) return new Set();
  visited.add(file);
  const text = readFileSync(file, 'utf8');
  const own = /^\/\/ Needs: (.+)$/m.exec(text)?.[1]?.split(', ') ?? [];
  const imported = [...text.matchAll(/from '(\.[^']+)\.js'/g)].map(([, path = '']) =>
    join(dirname(file), `${path}.ts`),
  );
  return new Set([...own, ...imported.flatMap((path) => [...needsOf(path, visited)])]);
}
