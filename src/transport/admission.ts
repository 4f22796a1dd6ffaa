/** Both ends of a TCP connection as seen from this side; all undefined for other connections. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * Decides who is served, based on where a connection comes from. Called for every request, before anything else is done
 * for it.
 */
export type Admission = (ends: ConnectionEnds, proof: { readonly authenticated: boolean }) => boolean;

/** The answer to refused clients. */
export const NOT_ADMITTED = 'connections from sandboxes are not served';
