import { ExecError } from '../../../protocol/errors.js';
import { fitsPattern, MANY } from '../../kernel/index.js';

/** The directory a pattern starts from and the test for what lies below it. */
export interface CompiledGlob {
  /** The part before the first wildcard, cut at a directory. */
  readonly base: string;
  readonly matches: (path: string) => boolean;
}

/** One of a set of characters, or of all others. */
interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}

/** What stands for one character: itself, one of a class, or `any` one. */
type Token = string | CharacterClass;

/** Braces multiply; a pattern that means more than this is no pattern somebody wrote. */
const MAX_ALTERNATIVES = 256;

/** As far as a pattern means one text only. */
const FIXED = /^(?:[^*?[\]{}\\]|\\.)*/su;

/**
 * As Codex reads them, since a pattern that is read otherwise hides too little and nobody notices: `*` crosses
 * directories and `?` does not, `**` between slashes may be nothing, `[a-z]` and `[!a-z]` are one character, `{a,b}` is
 * either, and a backslash takes the meaning from what follows. Time is bounded by the product of both lengths: names are
 * chosen by anybody.
 */
export function compileGlob(pattern: string): CompiledGlob {
  const fixed = (FIXED.exec(pattern)?.[0] ?? '').replaceAll(/\\(.)/gsu, '$1');
  const base = fixed.slice(0, fixed.lastIndexOf('/')) || '/';
  const nothing = pattern.replaceAll(/(?:\/\*\*)+(?=\/)/g, '{,/*}');
  const alternatives = expandBraces(nothing).map(tokensOf);
  return {
    base,
    matches: (path) => {
      const characters = /[\uD800-\uDFFF]/.test(path) ? Array.from(path) : path;
      return alternatives.some((tokens) => fitsPattern(tokens, characters, isOne));
    },
  };
}

function expandBraces(pattern: string): string[] {
  const open = findOutside(pattern, 0, '{}');
  if (open < 0) return [pattern];
  const options: string[] = [];
  let from = open + 1;
  let depth = pattern[open] === '{' ? 1 : 0;
  for (let at = from; depth > 0; at += 1) {
    at = findOutside(pattern, at, '{,}');
    if (at < 0) break;
    if (pattern[at] === '{') depth += 1;
    if (pattern[at] === '}') depth -= 1;
    if (depth > 1 || pattern[at] === '{' || (pattern[at] === '}' && depth === 1)) continue;
    options.push(pattern.slice(from, at));
    from = at + 1;
  }
  if (depth !== 0 || options.length === 0) throw notAPattern();
  const all = options.flatMap((option) =>
    expandBraces(pattern.slice(0, open) + option + pattern.slice(from)),
  );
  if (all.length > MAX_ALTERNATIVES) throw notAPattern();
  return all;
}

/** The next of these characters that is neither escaped nor in a class; -1 if there is none. */
function findOutside(pattern: string, start: number, wanted: string): number {
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (wanted.includes(character)) return at;
    if (character === '\\') at += 1;
    if (character === '[') at = classEnd(pattern, at);
  }
  return -1;
}

/** Where the class ends that begins here. A bracket right at its beginning stands for itself. */
function classEnd(pattern: string, start: number): number {
  const first = start + (/[!^]/.test(pattern[start + 1] ?? '') ? 2 : 1);
  const end = pattern.indexOf(']', first + 1);
  if (end < 0) throw notAPattern();
  return end;
}

function tokensOf(pattern: string): (Token | typeof MANY)[] {
  const tokens: (Token | typeof MANY)[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    let character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (character === '[') {
      const end = classEnd(pattern, at);
      tokens.push(classOf(pattern.slice(at + 1, end)));
      at = end;
      continue;
    }
    if (character === '*' || character === '?') {
      if (character === '?' || tokens.at(-1) !== MANY) tokens.push(character === '?' ? 'any' : MANY);
      continue;
    }
    if (character === '\\') {
      at += 1;
      if (at === pattern.length) throw notAPattern();
      character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    }
    tokens.push(character);
    at += character.length - 1;
  }
  return tokens;
}

function classOf(text: string): Token {
  const negated = /^[!^]/.test(text);
  const ranges: [string, string][] = [];
  const characters = Array.from(negated ? text.slice(1) : text);
  for (let at = 0; at < characters.length; at += 1) {
    const [low = '', dash, high] = characters.slice(at, at + 3);
    const isRange = dash === '-' && high !== undefined;
    ranges.push([low, isRange ? high : low]);
    if (isRange) at += 2;
  }
  return { negated, ranges };
}

function isOne(token: Token, character: string): boolean {
  if (typeof token === 'string') return token === character || (token === 'any' && character !== '/');
  const code = character.codePointAt(0) ?? 0;
  const within = ([low, high]: readonly [string, string]) =>
    (low.codePointAt(0) ?? 0) <= code && code <= (high.codePointAt(0) ?? 0);
  return token.ranges.some(within) !== token.negated;
}

function notAPattern(): ExecError {
  return new ExecError('invalidParams', 'A glob pattern of the sandbox is not complete or means too much.');
}
