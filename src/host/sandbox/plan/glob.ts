import { ExecError } from '../../../protocol/errors.js';
import {
  anyCharacter,
  type CharacterTest,
  GlobMachine,
  inName,
  only,
  type PatternToken,
} from '../../kernel/index.js';

export interface ParsedGlob {
  /** The part before the first wildcard, cut at a directory. */
  readonly base: string;
  /** Each matches whole paths. */
  readonly alternatives: readonly (readonly PatternToken[])[];
}

/** The directory a pattern starts from, and the test for what lies below it. */
export interface CompiledGlob {
  readonly base: string;
  readonly matches: (path: string) => boolean;
}

/** Braces multiply; nobody writes a pattern with more alternatives than this. */
const MAX_ALTERNATIVES = 256;

/** The literal start of a pattern. */
const FIXED = /^(?:[^*?[\]{}\\]|\\.)*/su;

/**
 * Follows Codex's syntax, since a pattern read differently would silently hide too little: `*` crosses directories and
 * `?` does not, `**` between slashes may be empty, `[a-z]` and `[!a-z]` match one character, `{a,b}` either
 * alternative, and a backslash escapes what follows. Search globs follow ripgrep, where `*` stays within a name.
 */
export function parseGlob(pattern: string): ParsedGlob {
  const fixed = (FIXED.exec(pattern)?.[0] ?? '').replaceAll(/\\(.)/gsu, '$1');
  const base = fixed.slice(0, fixed.lastIndexOf('/')) || '/';
  const nothing = pattern.replaceAll(/(?:\/\*\*)+(?=\/)/g, '{,/*}');
  return { base, alternatives: expandBraces(nothing).map(tokensOf) };
}

export function compileGlob(pattern: string): CompiledGlob {
  const { base, alternatives } = parseGlob(pattern);
  const machine = new GlobMachine(alternatives);
  return { base, matches: (path) => machine.matches(path) };
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

/** The end of the class that starts here. A bracket in first position stands for itself. */
function classEnd(pattern: string, start: number): number {
  const first = start + (/[!^]/.test(pattern[start + 1] ?? '') ? 2 : 1);
  const end = pattern.indexOf(']', first + 1);
  if (end < 0) throw notAPattern();
  return end;
}

function tokensOf(pattern: string): PatternToken[] {
  const tokens: PatternToken[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    let character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (character === '[') {
      const end = classEnd(pattern, at);
      tokens.push({ kind: 'one', fits: classOf(pattern.slice(at + 1, end)) });
      at = end;
      continue;
    }
    if (character === '*' || character === '?') {
      if (character === '?') tokens.push({ kind: 'one', fits: inName });
      else if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many', fits: anyCharacter });
      continue;
    }
    if (character === '\\') {
      at += 1;
      if (at === pattern.length) throw notAPattern();
      character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    }
    tokens.push({ kind: 'one', fits: only(character.codePointAt(0) ?? 0) });
    at += character.length - 1;
  }
  return tokens;
}

function classOf(text: string): CharacterTest {
  const negated = /^[!^]/.test(text);
  const ranges: [number, number][] = [];
  const codes = Array.from(negated ? text.slice(1) : text, (character) => character.codePointAt(0) ?? 0);
  for (let at = 0; at < codes.length; at += 1) {
    const [low = 0, dash, high] = codes.slice(at, at + 3);
    const isRange = dash === DASH && high !== undefined;
    ranges.push([low, isRange ? high : low]);
    if (isRange) at += 2;
  }
  return (code) => ranges.some(([low, high]) => low <= code && code <= high) !== negated;
}

const DASH = 0x2d;

function notAPattern(): ExecError {
  return new ExecError('invalidParams', 'A glob pattern of the sandbox is incomplete or too broad.');
}
