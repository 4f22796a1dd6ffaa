/** Tests one character, given its code point. */
export type CharacterTest = (code: number) => boolean;

/**
 * One part of a pattern. Glob syntaxes disagree about stars and brackets, so each translates them into these tokens.
 */
export type PatternToken =
  | { readonly kind: 'one'; readonly fits: CharacterTest }
  /** Zero or more such characters. */
  | { readonly kind: 'many'; readonly fits: CharacterTest }
  /** Matches nothing if there are no options. */
  | { readonly kind: 'oneOf'; readonly options: readonly (readonly PatternToken[])[] };

export const anyCharacter: CharacterTest = () => true;
export const inName: CharacterTest = (code) => code !== 0x2f;
export const only =
  (wanted: number): CharacterTest =>
  (code) =>
    code === wanted;

/** Consumes one character (`test`), branches (`next`), or accepts a pattern (`accepts`). */
interface State {
  readonly test: CharacterTest | null;
  readonly next: readonly number[];
  /** The index of the accepted pattern; -1 in every other state. */
  readonly accepts: number;
}

/** The set of states the text read so far may have led to. */
export interface Progress {
  readonly states: readonly number[];
  /** Cached transitions by character. Null if this set is not cached. */
  readonly known: Map<number, Progress> | null;
}

/** Most patterns need fewer state sets than this. Beyond it, sets are computed anew each time. */
const MAX_KNOWN = 1024;

/** Transitions are cached for these characters only; others are rare. */
const MAX_KNOWN_CODE = 256;

/**
 * Matches a text against several patterns at once. It tracks every state it may be in and advances character by
 * character, so the time is bounded by pattern length times text length even for hostile patterns; transitions are
 * cached. The text may come in parts: an entry of a directory continues from the progress its directory reached.
 */
export class GlobMachine {
  readonly #states: State[] = [];
  /** Never shared with a later progress, even one with the same states: here nothing has been read yet. */
  readonly start: Progress;
  readonly #known = new Map<string, Progress>();
  /** The round in which each state was last added to a progress. */
  readonly #added: Uint32Array;
  #round = 0;

  constructor(patterns: readonly (readonly PatternToken[])[]) {
    const starts = patterns.map((tokens, index) =>
      this.#sequence(tokens, this.#add({ test: null, next: [], accepts: index })),
    );
    this.#added = new Uint32Array(this.#states.length);
    this.start = { states: this.#reachable(starts), known: new Map() };
  }

  advance(from: Progress, text: string): Progress {
    let progress = from;
    for (let at = 0; at < text.length && progress.states.length > 0; at += 1) {
      const code = text.codePointAt(at) ?? 0;
      if (code > 0xffff) at += 1;
      progress = progress.known?.get(code) ?? this.#step(progress, code);
    }
    return progress;
  }

  /** Indexes of the patterns that match the whole text, in no particular order. */
  fitting({ states }: Progress): number[] {
    return states.map((index) => this.#states[index]?.accepts ?? -1).filter((accepts) => accepts >= 0);
  }

  /** True if any pattern matches. */
  matches(text: string): boolean {
    return this.fitting(this.advance(this.start, text)).length > 0;
  }

  #step(from: Progress, code: number): Progress {
    const next: number[] = [];
    for (const index of from.states) {
      const state = this.#states[index];
      if (state?.test?.(code)) next.push(state.next[0] ?? 0);
    }
    const to = this.#progress(this.#reachable(next));
    if (to.known !== null && code < MAX_KNOWN_CODE) from.known?.set(code, to);
    return to;
  }

  #progress(states: number[]): Progress {
    if (this.#known.size === MAX_KNOWN) return { states, known: null };
    const key = states.toSorted((a, b) => a - b).join();
    const progress = this.#known.get(key) ?? { states, known: new Map() };
    this.#known.set(key, progress);
    return progress;
  }

  /** The states reachable without reading a character, leaving out pure branches. */
  #reachable(from: readonly number[]): number[] {
    this.#round += 1;
    const reached: number[] = [];
    const waiting = [...from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const state = this.#states[index];
      if (state === undefined || this.#added[index] === this.#round) continue;
      this.#added[index] = this.#round;
      if (state.test !== null || state.accepts >= 0) reached.push(index);
      else for (const target of state.next) waiting.push(target);
    }
    return reached;
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  /** Adds states for these tokens, leading to `next`; returns the first. */
  #sequence(tokens: readonly PatternToken[], next: number): number {
    return tokens.reduceRight((after, token) => this.#token(token, after), next);
  }

  #token(token: PatternToken, next: number): number {
    switch (token.kind) {
      case 'one':
        return this.#add({ test: token.fits, next: [next], accepts: -1 });
      case 'many':
        return this.#loop(token.fits, next);
      case 'oneOf':
        if (token.options.length === 0) return next;
        return this.#branch(token.options.map((option) => this.#sequence(option, next)));
    }
  }

  #loop(test: CharacterTest, next: number): number {
    const targets = [next];
    const loop = this.#branch(targets);
    targets.push(this.#add({ test, next: [loop], accepts: -1 }));
    return loop;
  }

  #branch(targets: readonly number[]): number {
    return this.#add({ test: null, next: targets, accepts: -1 });
  }
}
