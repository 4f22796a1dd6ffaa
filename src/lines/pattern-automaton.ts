import type { Assertion } from './pattern-syntax.js';
import type { PatternProgram } from './pattern-program.js';
import { isContinuation, missingAfter } from './utf8-ranges.js';

/** In the table, for a next state that has not been computed. */
export const UNKNOWN = -1;
export const MATCHED = -2;
/** In the table, for a byte with a meaning for lines or terminals. */
export const SPECIAL = -3;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const ESCAPE = 0x1b;

/** Beyond this, all states are discarded and created again as needed. */
const MAX_STATES = 1024;
const MAX_STATE_STEPS = 256 * 1024;

/** What precedes a position in a line. */
type Before = 'lineStart' | 'word' | 'other';

/** The steps of the pattern that the bytes read so far may have led to. */
interface State {
  readonly steps: readonly number[];
  readonly before: Before;
  /** How many bytes the current character still needs. */
  readonly missing: number;
  /** Whether a line that ends here matches; undefined until it is computed. */
  matchesAtEnd: boolean | undefined;
}

/**
 * Matches lines by following all possibilities at once, so that the time for a line depends only on its length. States are
 * created when first needed.
 */
export class PatternAutomaton {
  readonly #program: PatternProgram;
  readonly #states: State[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #seen: Uint32Array;
  #mark = 0;
  #stateSteps = 0;
  #start: number | undefined;
  /** The state after each byte, for 256 bytes per state. */
  table = new Int32Array(0);
  /** The cost of creating states so far, in steps visited. */
  work = 0;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#seen = new Uint32Array(program.steps.length);
  }

  /** The state at the start of a line. */
  get start(): number {
    this.#start ??= this.#number([this.#program.start], 'lineStart', 0);
    return this.#start;
  }

  /** The state after a byte, which may be special. `MATCHED` if the line matches whatever follows. */
  after(state: number, byte: number): number {
    const { steps, before, missing } = this.#states[state] ?? { steps: [], before: 'other', missing: 0 };
    const isWord = isWordByte(byte);
    const isInside = missing > 0 && isContinuation(byte);
    // An incomplete character ends here.
    const isCut = missing > 0 && !isInside;
    const { open, matched } = this.#resolve(isCut ? [...steps, this.#program.start] : steps, {
      lineStart: before === 'lineStart',
      lineEnd: false,
      wordEdge: (before === 'word') !== isWord,
      noWordEdge: (before === 'word') === isWord,
    });
    // Creating a state may discard all others and renumber them. The table is updated only if that did not happen.
    const made = this.#states.length;
    const left = isInside ? missing - 1 : missingAfter(byte);
    const next = matched
      ? MATCHED
      : this.#number(this.#step(open, byte, left === 0), isWord ? 'word' : 'other', left);
    const isSpecial = byte === NEWLINE || byte === RETURN || byte === ESCAPE;
    if (!isSpecial && this.#states.length >= made) this.table[state * 256 + byte] = next;
    return next;
  }

  /** Whether a line that ends in this state matches. */
  matchesAtEnd(state: number): boolean {
    const known = this.#states[state];
    if (!known) return false;
    const isWord = known.before === 'word';
    const steps = known.missing > 0 ? [...known.steps, this.#program.start] : known.steps;
    known.matchesAtEnd ??= this.#resolve(steps, {
      lineStart: known.before === 'lineStart',
      lineEnd: true,
      wordEdge: isWord,
      noWordEdge: !isWord,
    }).matched;
    return known.matchesAtEnd;
  }

  /** Follows forks and assertions that hold, up to steps that consume a byte. */
  #resolve(
    steps: readonly number[],
    holds: Readonly<Record<Assertion, boolean>>,
  ): { open: number[]; matched: boolean } {
    this.#mark += 1;
    const open: number[] = [];
    const left = [...steps];
    let matched = false;
    for (let number = left.pop(); number !== undefined; number = left.pop()) {
      if (this.#seen[number] === this.#mark) continue;
      this.#seen[number] = this.#mark;
      this.work += 1;
      const step = this.#program.steps[number];
      if (step?.kind === 'byte') open.push(number);
      else if (step?.kind === 'fork') left.push(...step.next);
      else if (step?.kind === 'assertion' && holds[step.what]) left.push(step.next);
      else if (step?.kind === 'match') matched = true;
    }
    return { open, matched };
  }

  /** The steps after a byte. A match may begin at any character, so they include the start wherever a character may begin. */
  #step(open: readonly number[], byte: number, mayBegin: boolean): number[] {
    const next = new Set(mayBegin ? [this.#program.start] : []);
    for (const number of open) {
      const step = this.#program.steps[number];
      if (step?.kind === 'byte' && byte >= step.from && byte <= step.to) next.add(step.next);
    }
    this.work += open.length;
    return [...next].sort((a, b) => a - b);
  }

  #number(steps: readonly number[], before: Before, missing: number): number {
    const key = `${before} ${missing} ${steps.join(' ')}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#states.length >= MAX_STATES || this.#stateSteps > MAX_STATE_STEPS) this.#forget();
    const number = this.#states.push({ steps, before, missing, matchesAtEnd: undefined }) - 1;
    this.#stateSteps += steps.length;
    this.#numbers.set(key, number);
    this.#growTable(number);
    return number;
  }

  #growTable(number: number): void {
    if ((number + 1) * 256 > this.table.length) {
      const larger = new Int32Array(Math.max(16, (number + 1) * 2) * 256);
      larger.set(this.table);
      this.table = larger;
    }
    const row = number * 256;
    this.table.fill(UNKNOWN, row, row + 256);
    for (const byte of [NEWLINE, RETURN, ESCAPE]) this.table[row + byte] = SPECIAL;
  }

  #forget(): void {
    this.#states.length = 0;
    this.#numbers.clear();
    this.#stateSteps = 0;
    this.#start = undefined;
  }
}

function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x5f ||
    (byte >= 0x61 && byte <= 0x7a)
  );
}
