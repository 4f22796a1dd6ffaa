/** A piece of code, and what it is. */
export interface Token {
  readonly kind: 'comment' | 'string' | 'number' | 'keyword' | 'plain';
  readonly text: string;
}

interface Language {
  /** What begins a comment that goes to the end of the line. */
  readonly line: readonly string[];
  readonly block?: readonly [string, string];
  readonly keywords: ReadonlySet<string>;
}

const COMMON =
  'if else for while do return break continue switch case default function class struct enum interface type const let var new this super import export from as async await try catch finally throw throws public private protected static readonly extends implements package fn pub mod use impl trait match mut ref where loop in of is not and or def elif pass raise with lambda yield global nonlocal None True False null true false undefined void int float double char bool string go chan defer select func map range make nil self then fi done esac local echo exit set end begin module require do unless until';
const KEYWORDS = new Set(COMMON.split(' '));
const C_LIKE: Language = { line: ['//'], block: ['/*', '*/'], keywords: KEYWORDS };
const SHELL_LIKE: Language = { line: ['#'], keywords: KEYWORDS };
const SQL: Language = { line: ['--'], block: ['/*', '*/'], keywords: KEYWORDS };
const MARKUP: Language = { line: [], block: ['<!--', '-->'], keywords: new Set() };

const LANGUAGES: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(
    'ts tsx js jsx mjs cjs json jsonc c h cc cpp hpp cs java kt go rs swift php scala css scss less proto'
      .split(' ')
      .map((each) => [each, C_LIKE]),
  ),
  ...Object.fromEntries(
    'py sh bash zsh fish rb pl yml yaml toml ini conf cfg mk makefile dockerfile r'
      .split(' ')
      .map((each) => [each, SHELL_LIKE]),
  ),
  ...Object.fromEntries('html xml svg vue'.split(' ').map((each) => [each, MARKUP])),
  sql: SQL,
  lua: SQL,
};

/** Lines longer than this are shown without colours. */
const MAX_LINE_CHARS = 2_000;
const NUMBER = /^(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/i;
const WORD = /^[A-Za-z_$][\w$]*/;

/** Colours lines roughly: comments, strings, numbers and keywords, by the end of the file's name. */
export function highlight(lines: readonly string[], fileName: string): Token[][] {
  const extension = fileName.toLowerCase().split('.').at(-1) ?? '';
  const language = LANGUAGES[extension];
  if (!language) return lines.map((text) => [{ kind: 'plain', text }]);
  let isInBlock = false;
  return lines.map((line) => {
    if (line.length > MAX_LINE_CHARS) return [{ kind: 'plain', text: line }];
    const [tokens, continues] = tokensOf(line, language, isInBlock);
    isInBlock = continues;
    return tokens;
  });
}

function tokensOf(line: string, language: Language, isInBlock: boolean): [Token[], boolean] {
  const tokens: Token[] = [];
  const add = (kind: Token['kind'], text: string): void => {
    const last = tokens.at(-1);
    if (kind === 'plain' && last?.kind === 'plain')
      tokens[tokens.length - 1] = { kind, text: last.text + text };
    else if (text !== '') tokens.push({ kind, text });
  };
  const { block, line: comments, keywords } = language;
  let at = 0;
  if (isInBlock && block) {
    const end = line.indexOf(block[1]);
    if (end === -1) return [[{ kind: 'comment', text: line }], true];
    at = end + block[1].length;
    add('comment', line.slice(0, at));
  }
  while (at < line.length) {
    const rest = line.slice(at);
    if (comments.some((mark) => rest.startsWith(mark))) {
      add('comment', rest);
      return [tokens, false];
    }
    if (block && rest.startsWith(block[0])) {
      const end = rest.indexOf(block[1], block[0].length);
      if (end === -1) {
        add('comment', rest);
        return [tokens, true];
      }
      add('comment', rest.slice(0, end + block[1].length));
      at += end + block[1].length;
      continue;
    }
    const text = stringAt(rest) ?? NUMBER.exec(rest)?.[0] ?? WORD.exec(rest)?.[0] ?? rest[0] ?? '';
    add(kindOf(text, keywords), text);
    at += text.length;
  }
  return [tokens, false];
}

function kindOf(text: string, keywords: ReadonlySet<string>): Token['kind'] {
  if (/^["'`]./.test(text)) return 'string';
  if (/^\d/.test(text)) return 'number';
  return keywords.has(text) ? 'keyword' : 'plain';
}

function stringAt(text: string): string | undefined {
  const quote = text[0];
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined;
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return text.slice(0, at + 1);
  }
  return undefined;
}
