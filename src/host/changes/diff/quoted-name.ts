import { isUtf8 } from 'node:buffer';

/** How git writes these bytes in a name, after a backslash. */
const ESCAPES: Readonly<Record<number, string>> = {
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
};

/**
 * A name as it stands in a patch. One with control characters is in quotes, as with git: it would end its line, and a program
 * could write a patch of its own into the name of a file.
 */
export function quotedName(name: Buffer): string {
  const isText = isUtf8(name);
  if (isText && !name.some(needsQuotes)) return name.toString();
  const parts: Buffer[] = [];
  for (const byte of name) parts.push(escaped(byte, { isText }));
  return `"${Buffer.concat(parts).toString()}"`;
}

function needsQuotes(byte: number): boolean {
  return byte < 0x20 || byte === 0x7f || byte === 34 || byte === 92;
}

function escaped(byte: number, { isText }: { isText: boolean }): Buffer {
  const letter = ESCAPES[byte];
  if (letter !== undefined) return Buffer.from(`\\${letter}`);
  if (needsQuotes(byte) || (!isText && byte >= 0x80))
    return Buffer.from(`\\${byte.toString(8).padStart(3, '0')}`);
  return Buffer.of(byte);
}
