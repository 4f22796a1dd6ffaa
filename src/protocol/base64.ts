import { type ErrorCode, ExecError } from './errors.js';

/*
 * Bytes travel as standard padded base64, and everything that touches the wire uses this module. It does not require
 * Node, so that clients in a browser can use it, but uses Node's Buffer where that exists.
 */

const hasBuffer = typeof Buffer !== 'undefined';

export function encodeBase64(bytes: Uint8Array): string {
  if (hasBuffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Decodes the canonical form only: standard alphabet, padding, no whitespace, spare bits zero. Throws `code` for
 * anything else.
 */
export function decodeBase64(text: string, code: ErrorCode): Uint8Array {
  return exact(text, hasBuffer ? decodeInNode(text) : decodeInBrowser(text), code);
}

/** The same into an existing buffer; data that does not fit counts as invalid. Only where Buffer exists. */
export function decodeBase64Into(text: string, target: Buffer, code: ErrorCode): Uint8Array {
  return exact(text, target.subarray(0, target.write(text, 'base64')), code);
}

function exact(text: string, bytes: Uint8Array, code: ErrorCode): Uint8Array {
  if (!isExact(text, bytes)) throw new ExecError(code, 'The data is not valid base64.');
  return bytes;
}

/** Decoders skip invalid characters, which shows as missing bytes. Node's also accepts the URL alphabet. */
function isExact(text: string, bytes: Uint8Array): boolean {
  if (text.length === 0) return true;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (
    text.length % 4 === 0 &&
    bytes.length === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_') &&
    encodeBase64(bytes.subarray(-(3 - padding))) === text.slice(-4)
  );
}

/** Returns a plain Uint8Array: callers must not depend on how it was made. */
function decodeInNode(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text, 'base64');
  return new Uint8Array(buffer, byteOffset, length);
}

/** Undecodable text yields no bytes, which never matches the expected length. */
function decodeInBrowser(text: string): Uint8Array {
  try {
    const binary = atob(text);
    return Uint8Array.from({ length: binary.length }, (_, index) => binary.charCodeAt(index));
  } catch {
    return new Uint8Array(0);
  }
}
