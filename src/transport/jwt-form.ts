import { inspectJson } from '../rpc/index.js';

/** An HS256 signature is a SHA-256. */
const SIGNATURE_BYTES = 32;
const NUMERIC_DATES = ['exp', 'nbf', 'iat'] as const;

/**
 * Whether a token is written the one way there is to write it, and its dates are dates. Libraries read more than that:
 * padding, stray bits at the end, a member twice, an end of 1e999 that never comes. Says nothing about the signature.
 */
export function isWellFormedJwt(token: string): boolean {
  const [header, claims, signature, ...more] = token.split('.').map(fromBase64Url);
  if (!header || !claims || signature?.length !== SIGNATURE_BYTES || more.length > 0) return false;
  const members = plainObject(claims);
  if (plainObject(header) === null || members === null) return false;
  return NUMERIC_DATES.every((name) => isDate(members[name]));
}

/** Null for anything but canonical base64url. */
function fromBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** Null for anything but one JSON object in UTF-8, no member of which occurs twice. */
function plainObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    inspectJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // An object out of JSON.parse has string keys and unknown values.
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isDate(seconds: unknown): boolean {
  if (seconds === undefined) return true;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER;
}
