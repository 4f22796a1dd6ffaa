import { type CodeRange, DIGITS, inverted, SPACE, WORD } from './code-ranges.js';
import { invalidPattern, unknownEscape, unknownGroup } from './invalid-pattern.js';

export type Assertion = 'lineStart' | 'lineEnd' | 'wordEdge' | 'noWordEdge';

/** A part of a pattern. */
export type PatternNode =
  /** One character. `odd`: also a byte that cannot belong to any. */
  | { readonly kind: 'set'; readonly ranges: readonly CodeRange[]; readonly odd: boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly what: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'assertion'; readonly what: Assertion };

const MAX_DEPTH = 100;
const MAX_REPEATS = 1000;

const NEWLINE: readonly CodeRange[] = [[0x0a, 0x0a]];
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, '0': 0 };
const SETS: Readonly<Record<string, readonly CodeRange[]>> = { d: DIGITS, w: WORD, s: SPACE };
const ASSERTIONS: Readonly<Record<string, Assertion>> = { b: 'wordEdge', B: 'noWordEdge' };

/** Parses a regular expression. Throws `invalidParams` for syntax that is not supported. */
export function parsePattern(source: string): PatternNode {
  return new Parser(Array.from(source)).whole();
}

/** The pattern for plain text. */
export function literalPattern(text: string): PatternNode {
  return { kind: 'sequence', parts: Array.from(text).map((character) => one(character.codePointAt(0) ?? 0)) };
}

class Parser {
  readonly #characters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  whole(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#characters.length) throw invalidPattern('it has a `)` too many');
    return node;
  }

  #choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    const [only] = options;
    return options.length === 1 && only ? only : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek())
      parts.push(this.#repeated());
    return { kind: 'sequence', parts };
  }

  #repeated(): PatternNode {
    let what = this.#atom();
    for (let times = this.#times(); times; times = this.#times()) {
      // Laziness only decides which of several matches is found, which does not matter here.
      this.#take('?');
      what = { kind: 'repeat', what, ...times };
    }
    return what;
  }

  #times(): { min: number; max: number } | null {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#characters.slice(this.#at, this.#at + 16).join(''));
    if (!counted) return null;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const unlimited = counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]);
    const max = counted[2] === undefined ? min : unlimited;
    if (min > MAX_REPEATS || (max > MAX_REPEATS && max !== Number.POSITIVE_INFINITY) || max < min)
      throw invalidPattern(`it repeats something more than ${MAX_REPEATS} times, or its bounds are reversed`);
    return { min, max };
  }

  #atom(): PatternNode {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return this.#set();
    if (character === '.') return { kind: 'set', ranges: inverted(NEWLINE), odd: true };
    if (character === '^') return { kind: 'assertion', what: 'lineStart' };
    if (character === '$') return { kind: 'assertion', what: 'lineEnd' };
    if (character === '\\') return this.#escaped();
    if (character === '*' || character === '+' || character === '?')
      throw invalidPattern(`there is nothing to repeat before \`${character}\``);
    return one(character.codePointAt(0) ?? 0);
  }

  #group(): PatternNode {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw invalidPattern('its groups are nested too deeply');
    if (this.#take('?')) this.#groupKind();
    const inside = this.#choice();
    if (!this.#take(')')) throw invalidPattern('a `)` is missing');
    this.#depth -= 1;
    return inside;
  }

  #groupKind(): void {
    if (this.#take(':')) return;
    const name = /^<(\w+)>/.exec(this.#characters.slice(this.#at, this.#at + 64).join(''));
    if (!name) throw unknownGroup(this.#characters.slice(this.#at, this.#at + 2).join(''));
    this.#at += name[0].length;
  }

  #escaped(): PatternNode {
    const letter = this.#peek() ?? '';
    const what = ASSERTIONS[letter];
    if (what) {
      this.#at += 1;
      return { kind: 'assertion', what };
    }
    const ranges = this.#escapedRanges();
    return { kind: 'set', ranges, odd: /[DWS]/.test(letter) };
  }

  /** The characters that an escape stands for. */
  #escapedRanges(): readonly CodeRange[] {
    const letter = this.#next();
    const known = SETS[letter.toLowerCase()];
    if (known) return letter === letter.toLowerCase() ? known : inverted(known);
    const control = CONTROLS[letter];
    if (control !== undefined) return [[control, control]];
    const code = letter === 'x' || letter === 'u' ? this.#code(letter) : letter.codePointAt(0);
    if (code === undefined || /^[1-9a-zA-Z]$/.test(letter) !== (letter === 'x' || letter === 'u'))
      throw unknownEscape(letter);
    return [[code, code]];
  }

  /** The rest of `\x41`, `\u0041`, `\u{41}` or a surrogate pair, after the letter. */
  #code(letter: string): number | undefined {
    const form =
      letter === 'x'
        ? /^([0-9a-f]{2})/i
        : /^(?:(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|([0-9a-f]{4})|\{([0-9a-f]{1,6})\})/i;
    const found = form.exec(this.#characters.slice(this.#at, this.#at + 10).join(''));
    if (!found) return undefined;
    this.#at += found[0].length;
    const [first = '', second, plain, braced] = found.slice(1);
    if (second === undefined) return Number.parseInt(plain ?? braced ?? first, 16);
    const pair = [first, second].map((half) => Number.parseInt(half, 16));
    return String.fromCharCode(...pair).codePointAt(0);
  }

  #set(): PatternNode {
    const isInverted = this.#take('^');
    const ranges: CodeRange[] = [];
    while (!this.#take(']')) ranges.push(...this.#member());
    return isInverted
      ? { kind: 'set', ranges: inverted([...ranges, ...NEWLINE]), odd: true }
      : { kind: 'set', ranges, odd: false };
  }

  /** One character, a range or an escape within brackets. */
  #member(): readonly CodeRange[] {
    const first = this.#setCharacter();
    const [from] = first;
    const isRange = this.#peek() === '-' && (this.#characters[this.#at + 1] ?? ']') !== ']';
    if (!isRange || !from || first.length > 1 || from[0] !== from[1]) return first;
    this.#at += 1;
    const [to] = this.#setCharacter();
    if (!to || to[1] < from[0]) throw invalidPattern('a range in brackets is reversed');
    return [[from[0], to[1]]];
  }

  #setCharacter(): readonly CodeRange[] {
    const character = this.#next();
    if (character !== '\\') return [[character.codePointAt(0) ?? 0, character.codePointAt(0) ?? 0]];
    if (this.#take('b')) return [[8, 8]];
    return this.#take('-') ? [[0x2d, 0x2d]] : this.#escapedRanges();
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw invalidPattern('it ends in the middle');
    this.#at += 1;
    return character;
  }

  #take(wanted: string): boolean {
    if (this.#peek() !== wanted) return false;
    this.#at += 1;
    return true;
  }
}

function one(code: number): PatternNode {
  return { kind: 'set', ranges: [[code, code]], odd: false };
}
