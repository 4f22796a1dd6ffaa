import { ExecError } from '../protocol/index.js';

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Standard alphabet, padding, no white space, unused bits zero: one text for one sequence of bytes. */
export function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what it does not know: that shows as missing bytes, and spare bits in the last group.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const isWhole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding;
  const lastGroup = bytes.subarray(Math.max(0, Math.ceil(bytes.length / 3) - 1) * 3).toString('base64');
  if (!isWhole || /[-_]/.test(text) || lastGroup !== text.slice(-4)) {
    throw new ExecError('invalidData', 'it is not standard base64 with padding');
  }
  return bytes;
}
