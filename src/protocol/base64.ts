import { ExecError, type WireErrorCode } from './errors.js';

/** Bytes to standard padded base64. Node only: browsers have their own way. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/**
 * Standard padded base64 to bytes, and nothing else: no URL alphabet, no white space, no missing padding.
 * Node's decoder is lenient and fast, so it decodes first and the result is checked.
 */
export function decodeBase64(text: string, code: WireErrorCode = 'invalidParams'): Uint8Array {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  const lengthFits = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding;
  if (!lengthFits || text.includes('-') || text.includes('_') || !lastGroupFits(text, bytes)) {
    throw new ExecError(code, 'The data is not standard base64 with padding.');
  }
  return bytes;
}

/** The unused bits of the last group must be zero: one text for one sequence of bytes. */
function lastGroupFits(text: string, bytes: Buffer): boolean {
  if (!text.endsWith('=')) return true;
  return bytes.subarray(Math.floor((bytes.length - 1) / 3) * 3).toString('base64') === text.slice(-4);
}
