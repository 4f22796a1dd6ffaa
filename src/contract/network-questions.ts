/** A host that a program wants to reach and that its rules do not decide about. */
export interface NetworkQuestion {
  readonly processId: string;
  readonly host: string;
  readonly port: number;
  /** How it asks: a plain HTTP request, CONNECT (as for HTTPS), or SOCKS 5. */
  readonly protocol: string;
}

/** `once`: this connection; `session`: this host, until the environment is closed; `deny`: not for this program. */
export type NetworkAnswer = 'once' | 'session' | 'deny';

/** Decides about hosts. If it throws, nobody has answered. */
export type NetworkAsker = (question: NetworkQuestion) => NetworkAnswer | Promise<NetworkAnswer>;
