import { ExecError } from '../protocol/index.js';

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Decodes standard, padded base64. Node alone would skip what does not belong and take the URL alphabet too. */
export function decodeBase64(text: string, code: 'invalidData' | 'invalidParams' = 'invalidParams'): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (!isExact(text, bytes)) throw new ExecError(code, 'The data is not valid base64.');
  return bytes;
}

function isExact(text: string, bytes: Buffer): boolean {
  if (text.length === 0) return true;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  // Skipped characters show as missing bytes. The last group is compared, since its spare bits must be zero.
  return (
    text.length % 4 === 0 &&
    bytes.length === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_') &&
    bytes.subarray(-(3 - padding)).toString('base64') === text.slice(-4)
  );
}
