/** Whether one character, by its number, is meant. */
export type CharacterTest = (code: number) => boolean;

/** One part of a pattern. What a star or a bracket means is for the syntaxes to say: they differ. */
export type PatternToken =
  | { readonly kind: 'one'; readonly fits: CharacterTest }
  /** Any number of such characters, also none. */
  | { readonly kind: 'many'; readonly fits: CharacterTest }
  /** Without any option it is nothing. */
  | { readonly kind: 'oneOf'; readonly options: readonly (readonly PatternToken[])[] };

export const anyCharacter: CharacterTest = () => true;
export const inName: CharacterTest = (code) => code !== 0x2f;
export const only =
  (wanted: number): CharacterTest =>
  (code) =>
    code === wanted;

/** A place where one character is read (`test`), where the way parts (`next`), or where a pattern has fitted (`fitted`). */
interface State {
  readonly test: CharacterTest | null;
  readonly next: readonly number[];
  /** The number of the pattern; -1 anywhere else. */
  readonly fitted: number;
}

/** Which places in the patterns a text may have led to so far. */
export interface Progress {
  readonly states: readonly number[];
  /** Where characters lead from here, as far as that is known. Null: it is not to be remembered. */
  readonly known: Map<number, Progress> | null;
}

/** Sets of places that are remembered. Few patterns lead to more; what is beyond is worked out each time. */
const MAX_KNOWN = 1024;

/** Characters whose way is remembered; texts hold others now and then. */
const MAX_KNOWN_CODE = 256;

/**
 * Tells which of several patterns fit a text, all of them at once. It keeps every place it may be at and moves on character by
 * character, so the time is bounded by the length of the patterns times the length of the text, whoever chose them; ways taken
 * before are known. The text may come in parts: what lies in a directory continues from where the directory was.
 */
export class GlobMachine {
  readonly #states: State[] = [];
  /** Never met again, even where the same places are: whoever is here has read nothing. */
  readonly start: Progress;
  readonly #known = new Map<string, Progress>();
  /** When each state was last added to a progress. */
  readonly #added: Uint32Array;
  #round = 0;

  constructor(patterns: readonly (readonly PatternToken[])[]) {
    const starts = patterns.map((tokens, index) =>
      this.#sequence(tokens, this.#add({ test: null, next: [], fitted: index })),
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

  /** Numbers of the patterns that fit all of the text, in no order. */
  fitting({ states }: Progress): number[] {
    return states.map((index) => this.#states[index]?.fitted ?? -1).filter((fitted) => fitted >= 0);
  }

  /** Whether one of the patterns fits. */
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

  /** The states that can be reached without reading anything, without those that only part ways. */
  #reachable(from: readonly number[]): number[] {
    this.#round += 1;
    const reached: number[] = [];
    const waiting = [...from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const state = this.#states[index];
      if (state === undefined || this.#added[index] === this.#round) continue;
      this.#added[index] = this.#round;
      if (state.test !== null || state.fitted >= 0) reached.push(index);
      else for (const way of state.next) waiting.push(way);
    }
    return reached;
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  /** Adds states for these tokens that end at `next`; returns the first. */
  #sequence(tokens: readonly PatternToken[], next: number): number {
    return tokens.reduceRight((after, token) => this.#token(token, after), next);
  }

  #token(token: PatternToken, next: number): number {
    switch (token.kind) {
      case 'one':
        return this.#add({ test: token.fits, next: [next], fitted: -1 });
      case 'many':
        return this.#loop(token.fits, next);
      case 'oneOf':
        if (token.options.length === 0) return next;
        return this.#part(token.options.map((option) => this.#sequence(option, next)));
    }
  }

  #loop(test: CharacterTest, next: number): number {
    const ways = [next];
    const loop = this.#part(ways);
    ways.push(this.#add({ test, next: [loop], fitted: -1 }));
    return loop;
  }

  #part(ways: readonly number[]): number {
    return this.#add({ test: null, next: ways, fitted: -1 });
  }
}
