const [ESCAPE, BELL, CANCEL, SUBSTITUTE] = [0x1b, 0x07, 0x18, 0x1a];
const OPERATING_SYSTEM_COMMAND = 0x5d;
/** After `ESC`, one of these begins a string for the terminal itself: `]`, `P`, `X`, `^`, `_`. */
const STRINGS: readonly number[] = [OPERATING_SYSTEM_COMMAND, 0x50, 0x58, 0x5e, 0x5f];
const CONTROL_SEQUENCE = 0x5b;
/** Anything longer is not a control sequence. */
export const MAX_SEQUENCE_BYTES = 256;

/** Where the sequence that begins here ends; beyond the last byte if it is incomplete. */
export function sequenceEnd(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind === undefined) return bytes.length + 1;
  if (kind === CONTROL_SEQUENCE) return controlEnd(bytes, at);
  if (STRINGS.includes(kind)) return stringEnd(bytes, at, kind);
  for (let index = at + 1; index < bytes.length; index += 1)
    if (!isBetween(bytes[index], 0x20, 0x2f)) return index + 1;
  return bytes.length + 1;
}

function controlEnd(bytes: Uint8Array, at: number): number {
  for (let index = at + 2; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isBetween(byte, 0x40, 0x7e)) return index + 1;
    if (isBreak(byte) || index - at > MAX_SEQUENCE_BYTES) return index;
  }
  return bytes.length + 1;
}

function stringEnd(bytes: Uint8Array, at: number, kind: number): number {
  for (let index = at + 2; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isBreak(byte)) return index;
    if (byte === BELL && kind === OPERATING_SYSTEM_COMMAND) return index + 1;
  }
  return bytes.length + 1;
}

function isBreak(byte: number | undefined): boolean {
  return byte === ESCAPE || byte === CANCEL || byte === SUBSTITUTE;
}

function isBetween(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high;
}
