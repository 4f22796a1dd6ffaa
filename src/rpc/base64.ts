const hasBuffer = typeof Buffer !== 'undefined';

/** Bytes as they travel in text. Works in a browser too. */
export function encodeBase64(bytes: Uint8Array): string {
  if (hasBuffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
