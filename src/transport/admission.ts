/** Both ends of a TCP connection, seen from ours; none of it is known of other connections. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Decides who is served, by where a connection comes from. Asked for every request, before anything is done for it. */
export type Admission = (ends: ConnectionEnds, proof: { readonly authenticated: boolean }) => boolean;

/** What those hear who are not. */
export const NOT_ADMITTED = 'connections from sandboxes are not served';
