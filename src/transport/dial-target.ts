import { ExecError } from '../protocol/errors.js';

/** How long connecting may take, as Codex's client waits. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

export interface DialOptions {
  /** Sent as `Authorization: Bearer …`. Not possible in a browser. */
  readonly authBearerToken?: string | undefined;
  /** Sent as `X-Request-Id`. Not possible in a browser. */
  readonly requestId?: string | undefined;
  readonly connectTimeoutMs?: number;
  /** Silence is judged at this interval: a quiet server is pinged, and one quiet for several counts as lost. */
  readonly livenessTickMs?: number;
}

/** Where to dial, taken apart. */
export interface DialTarget {
  /** For logs: scheme and host, without credentials, path or query. */
  readonly label: string;
  readonly address:
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'unix'; readonly path: string };
}

/** Takes an address apart. The error does not repeat it: an address may hold credentials. */
export function parseTarget(text: string): DialTarget {
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { label: 'unix', address: { kind: 'unix', path } };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['ws:', 'wss:'].includes(url.protocol)) {
    throw new ExecError('invalidConfiguration', 'The address must be ws://…, wss://… or unix:///path.');
  }
  return { label: `${url.protocol}//${url.host}`, address: { kind: 'url', url: url.href } };
}
