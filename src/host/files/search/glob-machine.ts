import { anyByte, anyInName, type ByteSet, type GlobToken, oneByte } from './glob-syntax.js';

/** Which places in the globs a text may have led to so far. */
export type Progress = readonly number[];

/** A place where one byte is read. */
interface ReadingState {
  readonly set: ByteSet;
  readonly next: number;
}

/** A place where the way parts, or where a glob has fitted. */
type State = ReadingState | { readonly ways: number[] } | { readonly fits: number };

const slash: GlobToken = { kind: 'one', set: oneByte(0x2f) };

/**
 * Tells which of several globs fit a text, all of them at once. It keeps every place it may be at and moves on byte by byte,
 * so the time is bounded by the length of the globs times the length of the text, whoever chose them. The text may come in
 * parts: what lies in a directory continues from where the directory was.
 */
export class GlobMachine {
  readonly #states: State[] = [];
  readonly start: Progress;
  /** When each state was last added to a progress. */
  #added: Uint32Array;
  #round = 0;

  constructor(globs: readonly (readonly GlobToken[])[]) {
    const starts = globs.map((tokens, index) => this.#sequence(tokens, this.#add({ fits: index })));
    this.#added = new Uint32Array(this.#states.length);
    this.start = this.#reachable(starts);
  }

  /** `text` has one character per byte. */
  advance(from: Progress, text: string): Progress {
    let progress = from;
    for (let at = 0; at < text.length && progress.length > 0; at += 1) {
      const byte = text.charCodeAt(at);
      const next: number[] = [];
      for (const index of progress) {
        const state = this.#states[index];
        if (state !== undefined && 'set' in state && state.set[byte] === 1) next.push(state.next);
      }
      progress = this.#reachable(next);
    }
    return progress;
  }

  /** Numbers of the globs that fit all of the text, in no order. */
  fitting(progress: Progress): number[] {
    return progress.flatMap((index) => {
      const state = this.#states[index];
      return state !== undefined && 'fits' in state ? [state.fits] : [];
    });
  }

  /** The states that can be reached without reading anything, without those that only part ways. */
  #reachable(from: readonly number[]): Progress {
    this.#round += 1;
    const reached: number[] = [];
    const waiting = [...from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (this.#added[index] === this.#round) continue;
      this.#added[index] = this.#round;
      const state = this.#states[index];
      if (state !== undefined && 'ways' in state) waiting.push(...state.ways);
      else reached.push(index);
    }
    return reached;
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  /** Adds states for these tokens that end at `next`; returns the first. */
  #sequence(tokens: readonly GlobToken[], next: number): number {
    return tokens.reduceRight((after, token) => this.#token(token, after), next);
  }

  #token(token: GlobToken, next: number): number {
    switch (token.kind) {
      case 'one':
        return this.#add({ set: token.set, next });
      case 'many':
        return this.#loop(anyInName, next);
      case 'anyPrefix':
        return this.#add({ ways: [next, this.#loop(anyByte, this.#token(slash, next))] });
      case 'anySuffix':
        return this.#token(slash, this.#loop(anyByte, next));
      case 'anyBetween':
        return this.#token(slash, this.#token({ kind: 'anyPrefix' }, next));
      case 'oneOf':
        if (token.options.length === 0) return next;
        return this.#add({ ways: token.options.map((option) => this.#sequence(option, next)) });
    }
  }

  /** Any number of bytes out of a set. */
  #loop(set: ByteSet, next: number): number {
    const ways: number[] = [next];
    const loop = this.#add({ ways });
    ways.push(this.#add({ set, next: loop }));
    return loop;
  }
}
