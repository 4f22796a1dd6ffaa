const BROKEN = '\uFFFD';

/**
 * Decodes output. Invalid bytes in UTF-8 become U+FFFD, and so does a character cut in two by a cap. Text without a
 * single UTF-8 sequence is taken for Windows-1252.
 */
export function outputText(bytes: Uint8Array, options: { cut: boolean }): string {
  const whole = options.cut ? withoutCutCharacter(bytes) : bytes;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole);
  const tail = whole.length < bytes.length ? BROKEN : '';
  if (!text.includes(BROKEN) || hasWideCharacters(text)) return text + tail;
  return new TextDecoder('windows-1252').decode(bytes);
}

function hasWideCharacters(text: string): boolean {
  for (const character of text) {
    if (character > '\u007F' && character !== BROKEN) return true;
  }
  return false;
}

/** Drops an incomplete UTF-8 sequence at the end. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function sequenceLength(lead: number): number {
  if (lead > 0xf4) return 1; // Starts nothing in UTF-8.
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
