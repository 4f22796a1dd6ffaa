import { accessSync, constants } from 'node:fs';
import { posix } from 'node:path';
import {
  accessAt,
  type ConfinedPolicy,
  indexRules,
  parentOf,
  type SandboxPolicy,
} from '../../../policy/internal.js';

/** What is known of a finished process. */
export interface FinishedProcess {
  readonly exitCode: number;
  readonly cwd: string;
  /** The last of what it wrote to stderr, or to its terminal. */
  readonly outputTail: string;
}

/** SIGSYS: the filter killed it for calling the kernel through a foreign ABI. */
const KILLED_BY_FILTER = 128 + 31;

/** As much of the output as is looked at: the complaint that ended a program is among its last lines. */
export const DENIAL_TAIL_BYTES = 8 * 1024;

/** Of one line, its end: a long path and the complaint. Finding paths takes the square of it, and the program chooses the words. */
const MAX_LINE_CHARACTERS = 1024;

const READ_ONLY = /Read-only file system|\bEROFS\b/i;
const REFUSED = /Permission denied|Operation not permitted|\bEACCES\b|\bEPERM\b/i;
const NO_NETWORK =
  /Network is unreachable|name resolution|Could not resolve|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|Name or service not known/i;
/** Paths in a message: quoted, or from a slash to the next blank, quote or colon. */
const PATHS = /'([^']+)'|"([^"]+)"|‘([^’]+)’|(\/[^\s:'"]+)/g;

/**
 * Whether the sandbox made a process fail. The kernel tells nobody which call it refused, so a failed
 * process's last words are taken as a lead and checked: the policy must forbid what they speak of, and for
 * words that mean other things too, the same must be possible without the sandbox.
 */
export function wasDenied(
  policy: SandboxPolicy,
  { exitCode, cwd, outputTail }: FinishedProcess,
  isWritable: (path: string) => boolean = isWritableOutside,
): boolean {
  if (policy.kind === 'open' || exitCode === 0) return false;
  if (exitCode === KILLED_BY_FILTER) return true;
  const lines = outputTail.slice(-DENIAL_TAIL_BYTES).split('\n');
  return lines.some((line) => isDenial(line.slice(-MAX_LINE_CHARACTERS), { policy, cwd, isWritable }));
}

interface Circumstances {
  readonly policy: ConfinedPolicy;
  readonly cwd: string;
  readonly isWritable: (path: string) => boolean;
}

function isDenial(line: string, { policy, cwd, isWritable }: Circumstances): boolean {
  if (policy.network === 'restricted' && NO_NETWORK.test(line)) return true;
  const readOnly = READ_ONLY.test(line);
  if (!readOnly && !REFUSED.test(line)) return false;
  if (/socket|connect|bind|listen/i.test(line)) return true;
  const paths = pathsIn(line).map((path) => posix.resolve(cwd, path));
  const forbidden = paths.filter((path) => !mayWrite(policy, path));
  if (readOnly) return paths.length === 0 || forbidden.length > 0;
  return forbidden.some(isWritable);
}

function pathsIn(line: string): string[] {
  return [...line.matchAll(PATHS)].map(([, a, b, c, d]) => a ?? b ?? c ?? d ?? '');
}

function mayWrite({ files }: ConfinedPolicy, path: string): boolean {
  return files.kind === 'unrestricted' || accessAt(indexRules(files.rules), path) === 'write';
}

/** Could this server write there, or create it? */
function isWritableOutside(path: string): boolean {
  for (const place of [path, parentOf(path)]) {
    try {
      accessSync(place, constants.W_OK);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false;
    }
  }
  return false;
}
