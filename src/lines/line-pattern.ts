import { invalidPattern } from './invalid-pattern.js';
import { LineScan } from './line-scan.js';
import { PatternAutomaton } from './pattern-automaton.js';
import { compilePattern } from './pattern-program.js';
import { literalPattern, parsePattern } from './pattern-syntax.js';

const MAX_PATTERN_CHARS = 1000;

/** A pattern that contains ESC matches the bytes as printed, with escape sequences. */
const ESCAPE = '\u001b';
const NAMES_ESCAPE = /\\e|\\x1b|\\u001b|\\u\{0*1b\}/i;

export interface PatternOptions {
  readonly pattern: string;
  /** Default false: plain text. */
  readonly regex?: boolean;
  /** Default true. */
  readonly caseSensitive?: boolean;
  /** Match every character, including escape sequences and carriage returns at the end of a line. Default false. */
  readonly exact?: boolean;
}

/** A pattern to search lines for. The time of a search depends only on the length of the output. */
export class LinePattern {
  readonly #automaton: PatternAutomaton;
  readonly #exact: boolean;
  readonly #skipEscapes: boolean;
  /** The bytes to find, if the pattern is plain text; a faster search can then be used. */
  readonly literal: Buffer | null;

  /** Throws `invalidParams` if the pattern cannot be used. */
  constructor({ pattern, regex = false, caseSensitive = true, exact = false }: PatternOptions) {
    if (pattern === '') throw invalidPattern('it is empty');
    if (pattern.length > MAX_PATTERN_CHARS)
      throw invalidPattern(`it is longer than ${MAX_PATTERN_CHARS} characters`);
    if (!regex && pattern.includes('\n')) throw invalidPattern('a line contains no newline');
    const node = regex ? parsePattern(pattern) : literalPattern(pattern);
    this.#automaton = new PatternAutomaton(compilePattern(node, { ignoreCase: !caseSensitive }));
    this.#exact = exact;
    this.#skipEscapes = !exact && !pattern.includes(ESCAPE) && !(regex && NAMES_ESCAPE.test(pattern));
    // Only the automaton ignores carriage returns at the end of a line.
    const isPlain = !regex && caseSensitive && !pattern.includes('\r') && this.#skipEscapes;
    this.literal = isPlain ? Buffer.from(pattern) : null;
  }

  scan(): LineScan {
    return new LineScan(this.#automaton, { skipEscapes: this.#skipEscapes, skipReturns: !this.#exact });
  }
}
