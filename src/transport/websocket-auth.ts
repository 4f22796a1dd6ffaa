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

/** Who a client is, or the reason for the 401. */
export type Authentication = { readonly principal: string } | { readonly refusal: string };

/** The token in an `Authorization` header, if it has one. */
export function bearerToken(header: string): string | undefined {
  return /^bearer\s+(\S.*)$/i.exec(header.trim())?.[1]?.trim();
}

/** Checks an `Authorization` header. */
export async function authenticate(auth: WebSocketAuth, header: string | undefined): Promise<Authentication> {
  if (header === undefined) return { refusal: 'missing websocket bearer token' };
  const token = bearerToken(header);
  if (!token) return { refusal: 'invalid authorization header' };
  if (auth.mode === 'signed-bearer-token') return await authenticateJwt(auth, token);
  // Digests have equal length, so the comparison takes the same time whatever was sent.
  if (timingSafeEqual(sha256(token), auth.tokenSha256)) return { principal: tokenPrincipal(token) };
  return { refusal: 'invalid websocket bearer token' };
}

/** Not the token itself, which must not be kept. */
function tokenPrincipal(token: string): string {
  return `token:${Buffer.from(sha256(token)).toString('hex')}`;
}

async function authenticateJwt(
  auth: Extract<WebSocketAuth, { mode: 'signed-bearer-token' }>,
  token: string,
): Promise<Authentication> {
  if (!isWellFormedJwt(token)) return { refusal: 'invalid websocket jwt' };
  const { errors, jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, auth.sharedSecret, {
      algorithms: ['HS256'],
      requiredClaims: ['exp'],
      clockTolerance: auth.maxClockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS,
      ...(auth.issuer === undefined ? {} : { issuer: auth.issuer }),
      ...(auth.audience === undefined ? {} : { audience: auth.audience }),
    });
    // Everyone without a name would otherwise be the same.
    if (typeof payload.sub !== 'string') return { principal: tokenPrincipal(token) };
    return { principal: `subject:${JSON.stringify([payload.iss ?? null, payload.sub])}` };
  } catch (error) {
    return { refusal: refusalOf(error, errors) };
  }
}

function refusalOf(error: unknown, errors: typeof import('jose').errors): string {
  if (error instanceof errors.JWTExpired) return 'expired websocket jwt';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'invalid websocket jwt';
  if (error.claim === 'nbf') return 'websocket jwt is not valid yet';
  if (error.claim === 'iss') return 'websocket jwt issuer mismatch';
  if (error.claim === 'aud') return 'websocket jwt audience mismatch';
  return 'invalid websocket jwt';
}
