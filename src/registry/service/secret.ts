import { randomBytes } from 'node:crypto';
import { sha256 } from '../../transport/index.js';

/** As much as a key of AES-256: nobody guesses it. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** What is kept of a secret. Looking it up tells nothing about how much of a guess was right. */
export function digestOf(secret: string): string {
  return Buffer.from(sha256(secret)).toString('hex');
}
