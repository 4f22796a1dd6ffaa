import { accessSync, constants } from 'node:fs';
import { posix } from 'node:path';
import {
  accessAt,
  type ConfinedPolicy,
  indexRules,
  parentOf,
  type SandboxPolicy,
} from '../../../policy/internal.js';

/** What is known about a finished process. */
export interface FinishedProcess {
  readonly exitCode: number;
  readonly cwd: string;
  /** The end of its stderr, or of its terminal output. */
  readonly outputTail: string;
}

/** SIGSYS: the filter killed it for calling the kernel through a foreign ABI. */
const KILLED_BY_FILTER = 128 + 31;

/** How much output we examine: the error that ended a program is among its last lines. */
export const DENIAL_TAIL_BYTES = 8 * 1024;

/**
 * Only the end of a line is examined: a long path and the error. Finding paths takes quadratic time, and the program
 * chooses the text.
 */
const MAX_LINE_CHARACTERS = 1024;

const READ_ONLY = /Read-only file system|\bEROFS\b/i;
const REFUSED = /Permission denied|Operation not permitted|\bEACCES\b|\bEPERM\b/i;
const NO_NETWORK =
  /Network is unreachable|name resolution|Could not resolve|\bENETUNREACH\b|\bEAI_AGAIN\b|getaddrinfo|Name or service not known/i;
/** Paths in a message: quoted, or from a slash to the next space, quote or colon. */
const PATHS = /'([^']+)'|"([^"]+)"|‘([^’]+)’|(\/[^\s:'"]+)/g;

/**
 * Guesses whether the sandbox made a process fail. The kernel does not report which call it refused, so the process's
 * last output serves as a clue and is checked: the policy must forbid what the message mentions and, for messages with
 * other meanings, the same must be possible without the sandbox.
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

/** Whether this server could write there or create it. */
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
