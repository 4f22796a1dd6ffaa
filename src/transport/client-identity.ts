import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketListenerOptions } from './listener-options.js';
import { authenticate, bearerToken } from './websocket-auth.js';

/** Who a client is, and what its token allows if that is not everything. */
export interface ClientIdentity {
  readonly principal: string;
  readonly share?: object;
}

type IdentityOptions = Pick<WebSocketListenerOptions, 'address' | 'auth' | 'shareOf' | 'userAt'>;

/** Identifies a client, or says why it may not connect. */
export async function identify(
  { headers }: IncomingMessage,
  socket: Duplex,
  options: IdentityOptions,
): Promise<ClientIdentity | { readonly refusal: string }> {
  const { authorization } = headers;
  const { auth } = options;
  const shared = sharedWith(authorization, options);
  if (shared) return shared;
  return auth ? await authenticate(auth, authorization) : { principal: principalAt(socket, options) };
}

/** The bearer of a share may do only what that allows, even where others need no token. */
function sharedWith(
  authorization: string | undefined,
  { shareOf }: IdentityOptions,
): ClientIdentity | { refusal: string } | undefined {
  const token = bearerToken(authorization ?? '');
  const share = token === undefined ? undefined : shareOf?.(token);
  if (share === undefined) return undefined;
  return share === null ? { refusal: 'the share is over' } : { principal: 'share', share };
}

/** Without tokens, all who may connect are the same client to us, except that a unix socket identifies the user. */
function principalAt(socket: Duplex, { address, userAt }: IdentityOptions): string {
  const user = address.kind === 'unix' ? userAt?.(socket) : null;
  return user == null ? 'anyone' : `user:${user}`;
}
