import { ExecError } from '../../../protocol/errors.js';
import { anyCharacter, type CharacterTest, inName, only, type PatternToken } from '../../kernel/index.js';

/** A set of bytes: 1 at the index of each member. */
type ByteSet = Uint8Array;

/** One part of a glob. */
type GlobToken =
  /** One byte. */
  | { readonly kind: 'one'; readonly fits: CharacterTest }
  /** Any number of bytes within a name. */
  | { readonly kind: 'many' }
  /** `**` and a slash at the start: nothing, or whole directories. */
  | { readonly kind: 'anyPrefix' }
  /** `/**` at the end: anything below. */
  | { readonly kind: 'anySuffix' }
  /** `**` between slashes: one slash, or whole directories. */
  | { readonly kind: 'anyBetween' }
  /** Matches nothing if there are no options. */
  | { readonly kind: 'oneOf'; readonly options: readonly (readonly GlobToken[])[] };

const SLASH = '/';

/**
 * Parses a glob like ripgrep: `*` and `?` stay within a name, `**` as a whole component does not, `[a-z]` and `[!a-z]`
 * match one byte, `{a,b}` either alternative, and a backslash escapes what follows. The text has one character per
 * byte.
 */
export function parseGlob(text: string): PatternToken[] {
  return new GlobParser(text).parse().flatMap(meaningOf);
}

const slash: PatternToken = { kind: 'one', fits: only(0x2f) };
const anything: PatternToken = { kind: 'many', fits: anyCharacter };
const directories: PatternToken = { kind: 'oneOf', options: [[], [anything, slash]] };

function meaningOf(token: GlobToken): PatternToken[] {
  switch (token.kind) {
    case 'one':
      return [token];
    case 'many':
      return [{ kind: 'many', fits: inName }];
    case 'anyPrefix':
      return [directories];
    case 'anySuffix':
      return [slash, anything];
    case 'anyBetween':
      return [slash, directories];
    case 'oneOf':
      return [{ kind: 'oneOf', options: token.options.map((option) => option.flatMap(meaningOf)) }];
  }
}

/** A list of tokens under construction; within braces each alternative has its own. */
type Tokens = GlobToken[];

class GlobParser {
  readonly #text: string;
  #at = 0;
  /** The finished alternatives of each open brace, outermost first. */
  readonly #open: { readonly options: Tokens[]; readonly outer: Tokens }[] = [];
  #tokens: Tokens = [];

  constructor(text: string) {
    this.#text = text;
  }

  parse(): GlobToken[] {
    while (this.#at < this.#text.length) this.#next();
    if (this.#open.length > 0) throw notAGlob('a brace is not closed');
    // On its own it matches everything.
    const isAny = this.#tokens.length === 1 && this.#tokens[0]?.kind === 'anyPrefix';
    return isAny ? [{ kind: 'anyPrefix' }, { kind: 'many' }] : this.#tokens;
  }

  #next(): void {
    const character = this.#take();
    if (character === '?') this.#tokens.push({ kind: 'one', fits: inName });
    else if (character === '*') this.#star();
    else if (character === '[') this.#tokens.push({ kind: 'one', fits: within(this.#class()) });
    else if (character === '{') this.#openBrace();
    else if (character === '}') this.#closeBrace();
    else if (character === ',' && this.#open.length > 0) this.#nextOption();
    else this.#literal(character === '\\' ? this.#escaped() : character);
  }

  #take(): string {
    this.#at += 1;
    return this.#text[this.#at - 1] ?? '';
  }

  #literal(character: string): void {
    this.#tokens.push({ kind: 'one', fits: only(character.charCodeAt(0)) });
  }

  #escaped(): string {
    if (this.#at === this.#text.length) throw notAGlob('nothing follows the last backslash');
    return this.#take();
  }

  /** Two stars are special only if they are a whole path component. */
  #star(): void {
    const before = this.#text[this.#at - 2];
    if (this.#text[this.#at] !== '*') {
      this.#many();
      return;
    }
    this.#at += 1;
    const after = this.#text[this.#at];
    const isFirst = this.#tokens.length === 0;
    const isLast =
      after === undefined || (this.#open.length > 0 && !isFirst && (after === ',' || after === '}'));
    if (!(isFirst || before === SLASH) || !(isLast || after === SLASH)) {
      this.#many();
      return;
    }
    if (after === SLASH) this.#at += 1;
    this.#directories(isFirst, isLast);
  }

  /** The slash before the stars belongs to them, and several in a row count as one. */
  #directories(isFirst: boolean, isLast: boolean): void {
    const last = isFirst ? undefined : this.#tokens.pop();
    if (isFirst) this.#tokens.push({ kind: 'anyPrefix' });
    else if (last?.kind === 'anyPrefix' || last?.kind === 'anySuffix') this.#tokens.push(last);
    else this.#tokens.push({ kind: isLast ? 'anySuffix' : 'anyBetween' });
  }

  #many(): void {
    if (this.#tokens.at(-1)?.kind !== 'many') this.#tokens.push({ kind: 'many' });
  }

  #openBrace(): void {
    this.#open.push({ options: [], outer: this.#tokens });
    this.#tokens = [];
  }

  #nextOption(): void {
    this.#open.at(-1)?.options.push(this.#tokens);
    this.#tokens = [];
  }

  /** Empty alternatives do not count. */
  #closeBrace(): void {
    const brace = this.#open.pop();
    if (brace === undefined) throw notAGlob('a brace is closed that was not opened');
    const options = [...brace.options, this.#tokens].filter((tokens) => tokens.length > 0);
    this.#tokens = brace.outer;
    this.#tokens.push({ kind: 'oneOf', options });
  }

  #class(): ByteSet {
    const negated = this.#text[this.#at] === '!' || this.#text[this.#at] === '^';
    if (negated) this.#at += 1;
    const end = this.#text.indexOf(']', this.#at + 1);
    if (end < 0) throw notAGlob('a bracket is not closed');
    const set = setOf(this.#text.slice(this.#at, end));
    this.#at = end + 1;
    return negated ? set.map((has) => 1 - has) : set;
  }
}

function within(set: ByteSet): CharacterTest {
  return (byte) => set[byte] === 1;
}

/** A dash between two characters makes a range, and one after a range extends it. */
function setOf(characters: string): ByteSet {
  const set = new Uint8Array(256);
  let low = -1;
  for (let at = 0; at < characters.length; at += 1) {
    const isRange = low >= 0 && characters[at] === '-' && at + 1 < characters.length;
    if (isRange) at += 1;
    const high = characters.charCodeAt(at);
    if (!isRange) low = high;
    if (high < low) throw notAGlob('a range in brackets runs backwards');
    set.fill(1, low, high + 1);
  }
  return set;
}

function notAGlob(why: string): ExecError {
  return new ExecError('invalidParams', `A glob is not valid: ${why}.`);
}
