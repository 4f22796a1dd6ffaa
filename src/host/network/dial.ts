import type { LookupAddress } from 'node:dns';
import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { Admission, Gate, NetworkRequest } from './gate.js';

/** How long a host may take to accept a connection. */
const CONNECT_LIMIT_MS = 30_000;

/** A connection to the host that was asked for, or why there is none. */
export type Dialled =
  | { readonly kind: 'connected'; readonly socket: Socket }
  | { readonly kind: 'refused'; readonly admission: Extract<Admission, { allowed: false }> }
  /** `code` as in `ECONNREFUSED`; `ENOTFOUND` if the name leads nowhere. */
  | { readonly kind: 'failed'; readonly code: string };

/** Connects to a host if the gate admits it. The connection ends with `signal`, even if it is half closed. */
export async function dial(gate: Gate, request: NetworkRequest, signal: AbortSignal): Promise<Dialled> {
  const admission = await gate.admit(request);
  if (!admission.allowed) return { kind: 'refused', admission };
  if (admission.addresses === null) return { kind: 'failed', code: 'ENOTFOUND' };
  if (signal.aborted) return { kind: 'failed', code: 'ECONNABORTED' };
  return await connect(request, admission.addresses, signal);
}

function connect(
  { host, port }: NetworkRequest,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<Dialled> {
  const socket = createConnection({
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    lookup: knownAddresses(addresses),
  });
  addAbortSignal(signal, socket);
  return new Promise((resolve) => {
    const over = (dialled: Dialled): void => {
      clearTimeout(limit);
      if (dialled.kind !== 'connected') socket.destroy();
      resolve(dialled);
    };
    const limit = setTimeout(() => over({ kind: 'failed', code: 'ETIMEDOUT' }), CONNECT_LIMIT_MS);
    // Stays: whoever takes the socket may not have looked at it yet when it fails.
    socket.on('error', (error: NodeJS.ErrnoException) => over({ kind: 'failed', code: codeOf(error) }));
    socket.once('connect', () => over({ kind: 'connected', socket }));
  });
}

/** Stands in for a look-up. Several addresses are tried one beside the other: the first may lead nowhere. */
export function knownAddresses(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, found) => {
    const [first] = addresses;
    if (all || first === undefined) found(null, [...addresses]);
    else found(null, first.address, first.family);
  };
}

/** With several addresses the error holds one for each. */
function codeOf(error: NodeJS.ErrnoException): string {
  const [first] = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
  return first?.code ?? 'EIO';
}
