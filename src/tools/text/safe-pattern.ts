import { closeSync, openSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import { ExecError } from '../../protocol/index.js';

/** A pattern that takes longer for a batch of lines is backtracking. It blocks the event loop until then. */
const MATCH_TIMEOUT_MS = 100;

/** On a busy machine the first attempt may run out of time, hardly the second. */
const TRIES = 2;

/** Node's script timeout opens a few descriptors, and aborts the process if it cannot. */
const WATCHDOG_DESCRIPTORS = 16;

const MAX_PATTERN_CHARS = 1000;

/** Context globals are slow to look up, so each is read once. The result leaves the context as a string. */
const SEARCH = `{
  const wanted = pattern;
  const found = [];
  lines.forEach((line, index) => wanted.test(line) && found.push(index));
  JSON.stringify(found);
}`;

/** One context for all patterns: only scripts in a context have a timeout. */
const scope: { pattern: RegExp; lines: readonly string[] } = { pattern: /^/, lines: [] };
let search: (() => unknown) | undefined;

/** An untrusted regular expression. One that takes too long is stopped and reported. */
export class SafePattern {
  readonly #pattern: RegExp;

  constructor(source: string) {
    if (source.length > MAX_PATTERN_CHARS) throw invalid(`it is longer than ${MAX_PATTERN_CHARS} characters`);
    try {
      this.#pattern = new RegExp(source, 'u');
    } catch {
      this.#pattern = withoutUnicode(source);
    }
  }

  /** Indexes of the lines that match. */
  matches(lines: readonly string[]): number[] {
    requireDescriptors();
    search ??= prepareSearch();
    scope.pattern = this.#pattern;
    scope.lines = lines;
    try {
      return JSON.parse(String(withRetry(search))) as number[];
    } catch (cause) {
      throw invalid('it takes too long to match', cause);
    } finally {
      scope.lines = [];
    }
  }
}

/** Needless backslashes are common, and an error only in unicode mode. */
function withoutUnicode(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : 'it is malformed', cause);
  }
}

function withRetry(run: () => unknown): unknown {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return run();
    } catch (error) {
      if (attempt === TRIES) throw error;
    }
  }
}

function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < WATCHDOG_DESCRIPTORS) opened.push(openSync('/', 'r'));
  } catch (cause) {
    throw new ExecError('ioFailed', 'There are too few file descriptors to match a pattern.', { cause });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function prepareSearch(): () => unknown {
  const context = createContext(scope);
  const script = new Script(SEARCH);
  return () => script.runInContext(context, { timeout: MATCH_TIMEOUT_MS });
}

function invalid(why: string, cause?: unknown): ExecError {
  return new ExecError('invalidParams', `The pattern cannot be used: ${why}.`, { cause });
}
