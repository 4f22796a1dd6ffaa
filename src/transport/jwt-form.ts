import { inspectJson } from '../rpc/index.js';

/** An HS256 signature has the length of a SHA-256 digest. */
const SIGNATURE_BYTES = 32;
const NUMERIC_DATES = ['exp', 'nbf', 'iat'] as const;

/**
 * Whether a token is in canonical form and its dates are valid. Libraries also accept padding, stray trailing bits,
 * duplicate members, and an expiry of 1e999 that never comes. Does not check the signature.
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

/** Null for anything but a single UTF-8 JSON object without duplicate members. */
function plainObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    inspectJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // JSON.parse returns objects with string keys and unknown values.
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isDate(seconds: unknown): boolean {
  if (seconds === undefined) return true;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER;
}
