import { ExecError } from '../protocol/errors.js';

/** How long connecting may take. The same as Codex's client. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

export interface DialOptions {
  /** Sent as `Authorization: Bearer …`. Not available in browsers. */
  readonly authBearerToken?: string | undefined;
  /** Sent as `X-Request-Id`. Not available in browsers. */
  readonly requestId?: string | undefined;
  /** Subprotocols to offer. A page cannot send headers with a WebSocket, but it can send these. */
  readonly protocols?: readonly string[] | undefined;
  readonly connectTimeoutMs?: number;
  /**
   * How often to check for silence: a quiet server is pinged, and one that stays quiet for several checks counts as
   * lost.
   */
  readonly livenessTickMs?: number;
}

/** A parsed dial address. */
export interface DialTarget {
  /** For logs: scheme and host, without credentials, path or query. */
  readonly label: string;
  readonly address:
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'unix'; readonly path: string };
}

/** Parses an address. The error does not repeat it, because an address may contain credentials. */
export function parseTarget(text: string): DialTarget {
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { label: 'unix', address: { kind: 'unix', path } };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['ws:', 'wss:'].includes(url.protocol)) {
    throw new ExecError('invalidConfiguration', 'The address must be ws://…, wss://… or unix:///path.');
  }
  return { label: `${url.protocol}//${url.host}`, address: { kind: 'url', url: url.href } };
}
