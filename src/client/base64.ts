import { ExecError } from '../protocol/index.js';

const hasBuffer = typeof Buffer !== 'undefined';

/** Bytes out of standard padded base64. What is not that throws; nothing is guessed. */
export function decodeBase64(text: string): Uint8Array {
  const bytes = hasBuffer ? decodeWithBuffer(text) : decodeInBrowser(text);
  if (text.length % 4 !== 0 || bytes.length !== decodedLength(text)) {
    throw new ExecError('protocolViolation', 'The other side sent bytes that are not base64.');
  }
  return bytes;
}

function decodedLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

function decodeWithBuffer(text: string): Uint8Array {
  const buffer = Buffer.from(text, 'base64');
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

function decodeInBrowser(text: string): Uint8Array {
  try {
    const binary = atob(text);
    return Uint8Array.from({ length: binary.length }, (_, index) => binary.charCodeAt(index));
  } catch {
    return new Uint8Array(0);
  }
}
