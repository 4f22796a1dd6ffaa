import { createHash, timingSafeEqual } from 'node:crypto';
import { isWellFormedJwt } from './jwt-form.js';

/** How clients of a WebSocket listener authenticate. */
export type WebSocketAuth =
  | { readonly mode: 'capability-token' /** SHA-256 of the token. */; readonly tokenSha256: Uint8Array }
  | {
      readonly mode: 'signed-bearer-token';
      readonly sharedSecret: Uint8Array;
      readonly issuer?: string;
      readonly audience?: string;
      readonly maxClockSkewSeconds?: number;
    };

/** The shortest shared secret that makes guessing HS256 keys infeasible. */
export const MIN_SHARED_SECRET_BYTES = 32;
const DEFAULT_CLOCK_SKEW_SECONDS = 30;

export function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** Checks an `Authorization` header. Resolves to null if it is valid, otherwise to the reason for the 401. */
export async function refusalOf(auth: WebSocketAuth, header: string | undefined): Promise<string | null> {
  if (header === undefined) return 'missing websocket bearer token';
  const token = /^bearer\s+(\S.*)$/i.exec(header.trim())?.[1]?.trim();
  if (!token) return 'invalid authorization header';
  if (auth.mode === 'signed-bearer-token') return await refusalOfJwt(auth, token);
  // Digests have equal length, so the comparison takes the same time whatever was sent.
  return timingSafeEqual(sha256(token), auth.tokenSha256) ? null : 'invalid websocket bearer token';
}

async function refusalOfJwt(
  auth: Extract<WebSocketAuth, { mode: 'signed-bearer-token' }>,
  token: string,
): Promise<string | null> {
  if (!isWellFormedJwt(token)) return 'invalid websocket jwt';
  const { errors, jwtVerify } = await import('jose');
  try {
    await jwtVerify(token, auth.sharedSecret, {
      algorithms: ['HS256'],
      requiredClaims: ['exp'],
      clockTolerance: auth.maxClockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS,
      ...(auth.issuer === undefined ? {} : { issuer: auth.issuer }),
      ...(auth.audience === undefined ? {} : { audience: auth.audience }),
    });
    return null;
  } catch (error) {
    if (error instanceof errors.JWTExpired) return 'expired websocket jwt';
    if (!(error instanceof errors.JWTClaimValidationFailed)) return 'invalid websocket jwt';
    if (error.claim === 'nbf') return 'websocket jwt is not valid yet';
    if (error.claim === 'iss') return 'websocket jwt issuer mismatch';
    if (error.claim === 'aud') return 'websocket jwt audience mismatch';
    return 'invalid websocket jwt';
  }
}
