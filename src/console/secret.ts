import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** A secret nobody can guess, safe in a URL, a cookie and a header. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** What is kept of a secret. Looking one up by its digest takes the same time whatever was sent. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
