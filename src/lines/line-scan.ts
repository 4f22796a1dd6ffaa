import { EscapeSkip } from './escape-skip.js';
import { MATCHED, type PatternAutomaton, UNKNOWN } from './pattern-automaton.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const ESCAPE = 0x1b;

/** Creating states with this many steps takes a fraction of a millisecond. */
const WORK_AT_A_TIME = 20_000;

/** Why a scan stopped: a line matched, a line ended without a match, the bytes ended, or it is time to yield. */
export type Stop = 'match' | 'lineEnd' | 'end' | 'tired';

/** Scans output line by line. A line may be split over any number of pieces. */
export class LineScan {
  readonly #automaton: PatternAutomaton;
  readonly #escapes: EscapeSkip | null;
  readonly #skipReturns: boolean;
  #state: number;
  /** Pending carriage returns, which are part of the line only if something follows them. */
  #returns = 0;
  /** Where the last call stopped. */
  at = 0;

  constructor(
    automaton: PatternAutomaton,
    { skipEscapes, skipReturns }: { skipEscapes: boolean; skipReturns: boolean },
  ) {
    this.#automaton = automaton;
    this.#escapes = skipEscapes ? new EscapeSkip() : null;
    this.#skipReturns = skipReturns;
    this.#state = automaton.start;
  }

  /** Forgets the current line. */
  restart(): void {
    this.#state = this.#automaton.start;
    this.#returns = 0;
  }

  /** Runs until it has to stop, at `at`: behind the newline for `lineEnd`, anywhere in the line for `match`. */
  run(bytes: Uint8Array, from: number): Stop {
    const automaton = this.#automaton;
    const enough = automaton.work + WORK_AT_A_TIME;
    const to = bytes.length;
    let at = from;
    let state = this.#state;
    for (;;) {
      if (this.#escapes?.isInside) at = this.#escapes.skip(bytes, at, to);
      if (this.#returns > 0 && at < to && bytes[at] !== NEWLINE && bytes[at] !== RETURN) {
        for (; this.#returns > 0 && state >= 0; this.#returns -= 1) state = automaton.after(state, RETURN);
        this.#returns = 0;
        if (state === MATCHED) return this.#stop('match', at, automaton.start);
      }
      const { table } = automaton;
      let next = state;
      while (at < to) {
        // Both indexes are within bounds. This line runs for every byte of output.
        next = table[(state << 8) | (bytes[at] as number)] as number;
        if (next < 0) break;
        state = next;
        at += 1;
      }
      if (at >= to) return this.#stop('end', at, state);
      const byte = bytes[at] ?? 0;
      at += 1;
      if (next === MATCHED) return this.#stop('match', at - 1, automaton.start);
      if (next !== UNKNOWN) {
        if (byte === NEWLINE) {
          const matches = automaton.matchesAtEnd(state);
          return this.#stop(matches ? 'match' : 'lineEnd', matches ? at - 1 : at, automaton.start);
        }
        if (byte === RETURN && this.#skipReturns) {
          this.#returns += 1;
          continue;
        }
        if (byte === ESCAPE && this.#escapes) {
          this.#escapes.begin();
          continue;
        }
      }
      next = automaton.after(state, byte);
      if (next === MATCHED) return this.#stop('match', at - 1, automaton.start);
      state = next;
      if (automaton.work > enough) return this.#stop('tired', at, state);
    }
  }

  /** Whether the current line matches if nothing follows. */
  matchesAtEnd(): boolean {
    return this.#automaton.matchesAtEnd(this.#state);
  }

  #stop(why: Stop, at: number, state: number): Stop {
    this.at = at;
    this.#state = state;
    if (why === 'match' || why === 'lineEnd') this.#returns = 0;
    return why;
  }
}
