import { randomBytes } from 'node:crypto';
import { sha256 } from '../../transport/index.js';

/** The size of an AES-256 key, which nobody can guess. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The digest kept of a secret. Looking it up does not reveal how much of a guess was right. */
export function digestOf(secret: string): string {
  return Buffer.from(sha256(secret)).toString('hex');
}
