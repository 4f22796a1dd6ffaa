import { type ErrorCode, ExecError } from './errors.js';

/*
 * Bytes travel as standard base64 with padding. Every layer that meets the wire uses this one place; nothing here needs
 * Node, so that clients in a browser can use it, but where Node's Buffer exists it does the work.
 */

const hasBuffer = typeof Buffer !== 'undefined';

/** Bytes as they travel. */
export function encodeBase64(bytes: Uint8Array): string {
  if (hasBuffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Bytes out of the one text that stands for them: standard alphabet, padding, no white space, spare bits zero. Anything
 * else throws `code`; nothing is guessed.
 */
export function decodeBase64(text: string, code: ErrorCode): Uint8Array {
  return exact(text, hasBuffer ? decodeInNode(text) : decodeInBrowser(text), code);
}

/** The same into memory that is there already; what does not fit counts as invalid. Only where there is a Buffer. */
export function decodeBase64Into(text: string, target: Buffer, code: ErrorCode): Uint8Array {
  return exact(text, target.subarray(0, target.write(text, 'base64')), code);
}

function exact(text: string, bytes: Uint8Array, code: ErrorCode): Uint8Array {
  if (!isExact(text, bytes)) throw new ExecError(code, 'The data is not valid base64.');
  return bytes;
}

/** Decoders skip what does not belong: that shows as missing bytes. Node's takes the URL alphabet, too. */
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

/** As plain bytes: whoever gets them shall not depend on what made them. */
function decodeInNode(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text, 'base64');
  return new Uint8Array(buffer, byteOffset, length);
}

/** What cannot be decoded has no bytes, which is not what its length promises. */
function decodeInBrowser(text: string): Uint8Array {
  try {
    const binary = atob(text);
    return Uint8Array.from({ length: binary.length }, (_, index) => binary.charCodeAt(index));
  } catch {
    return new Uint8Array(0);
  }
}
