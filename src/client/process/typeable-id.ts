/** Letters and digits that are hard to confuse. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 6;

/** An id that people can read out and type; its beginning is usually enough to tell it from others. */
export function typeableId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]).join('');
}
