/** From this length on, cutting the bytes out is cheaper than parsing them. */
const WORTH_CUTTING_CHARS = 32 * 1024;

/** Replaces the bytes while the rest is parsed. It is random, so no message can contain it. */
const PLACEHOLDER = `cut:${Math.random()}:${Math.random()}`;

/** A parsed message, and its text without the part that was cut out: enough to inspect its structure. */
export interface ParsedJson {
  readonly value: unknown;
  readonly text: string;
}

/**
 * JSON.parse for texts that are mostly one long base64 string in `params` or `result`. JSON.parse would look at every
 * character and copy the string, so the string is taken out first and put back unchanged. Consumers of the
 * `base64Members` check every character, so the parser need not.
 */
export function parseBulkJson(text: string, base64Members: readonly string[]): ParsedJson {
  const cut = text.length < WORTH_CUTTING_CHARS ? null : findBulk(text, base64Members);
  if (cut === null) return { value: JSON.parse(text), text };
  const shortened = text.slice(0, cut.start).concat(PLACEHOLDER, text.slice(cut.end));
  const value: unknown = JSON.parse(shortened);
  if (!putBack(value, cut.name, text.slice(cut.start, cut.end))) return { value: JSON.parse(text), text };
  return { value, text: shortened };
}

function findBulk(
  text: string,
  base64Members: readonly string[],
): { name: string; start: number; end: number } | null {
  for (const name of base64Members) {
    const opening = `"${name}":"`;
    const at = text.indexOf(opening);
    if (at < 0) continue;
    const start = at + opening.length;
    const end = text.indexOf('"', start);
    // Without escapes, the next quote ends the string.
    const isPlain = end - start >= WORTH_CUTTING_CHARS && !text.slice(start, end).includes('\\');
    if (isPlain) return { name, start, end };
  }
  return null;
}

/** False if the string was not a member of `params` or `result` after all. */
function putBack(message: unknown, name: string, bulk: string): boolean {
  const holder: unknown = isObject(message) ? (message['params'] ?? message['result']) : undefined;
  if (!isObject(holder) || holder[name] !== PLACEHOLDER) return false;
  holder[name] = bulk;
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
