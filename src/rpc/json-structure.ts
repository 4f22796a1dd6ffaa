import { ExecError } from '../protocol/errors.js';

/** Deeper nesting has no use in this protocol and costs stack in recursive readers. */
const MAX_JSON_DEPTH = 127;
/** Limits how many objects one message can make the parser build. */
const MAX_JSON_VALUES = 262_144;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Facts about a JSON text that JSON.parse does not report. */
export interface JsonStructure {
  /** The top-level `id` exactly as written, so that numbers above 2^53 survive. */
  readonly rawId: string | undefined;
}

/**
 * Walks a text that JSON.parse accepted and rejects what it tolerates: duplicate member names, excessive nesting, too
 * many values.
 */
export function inspectJson(text: string): JsonStructure {
  const names: (Set<string> | null)[] = [];
  let rawId: string | undefined;
  let values = 0;
  let expectName = false;
  let idFollows = false;

  const countValue = (start: number, end: number): void => {
    values += 1;
    if (values > MAX_JSON_VALUES) throw refuse('it holds too many values');
    if (idFollows) rawId = text.slice(start, end);
    idFollows = false;
  };

  for (let at = 0; at < text.length; ) {
    const char = text.charCodeAt(at);
    if (char <= 0x20 || char === COLON) {
      at += 1;
    } else if (char === COMMA) {
      expectName = names[names.length - 1] instanceof Set;
      at += 1;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      countValue(at, at);
      names.push(char === OPEN_OBJECT ? new Set() : null);
      if (names.length > MAX_JSON_DEPTH) throw refuse('it is nested too deeply');
      expectName = char === OPEN_OBJECT;
      at += 1;
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      names.pop();
      expectName = false;
      at += 1;
    } else if (char === QUOTE) {
      const end = endOfString(text, at);
      const used = names[names.length - 1];
      if (expectName && used) {
        const name = memberName(text, at, end);
        if (used.has(name)) throw refuse('a member name occurs twice');
        used.add(name);
        expectName = false;
        idFollows = names.length === 1 && name === 'id';
      } else {
        countValue(at, end);
      }
      at = end;
    } else {
      const end = endOfLiteral(text, at);
      countValue(at, end);
      at = end;
    }
  }
  return { rawId };
}

function refuse(why: string): ExecError {
  return new ExecError('invalidMessage', `failed to parse the message: ${why}`);
}

/** Index after the closing quote. Long strings are skipped at the speed of indexOf. */
function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); ; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return close + 1;
  }
}

function endOfLiteral(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const char = text.charCodeAt(end);
    if (char <= 0x20 || char === COMMA || char === CLOSE_OBJECT || char === CLOSE_ARRAY) break;
  }
  return end;
}

function memberName(text: string, open: number, end: number): string {
  const written = text.slice(open + 1, end - 1);
  return written.includes('\\') ? String(JSON.parse(text.slice(open, end))) : written;
}
