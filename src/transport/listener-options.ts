import type { Duplex } from 'node:stream';
import type { Channel } from '../rpc/index.js';
import type { Admission } from './admission.js';
import type { DoorLimits } from './door.js';
import type { ListenAddress } from './listen-address.js';
import type { LivenessOptions } from './liveness.js';
import type { SideService } from './side-service.js';
import type { WebSocketAuth } from './websocket-auth.js';
import type { CompressionUse } from './websocket-deflate.js';

export interface WebSocketListenerOptions {
  readonly address: Exclude<ListenAddress, { kind: 'stdio' }>;
  readonly auth?: WebSocketAuth | undefined;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Names clients may send in `Host`, besides the bound address and localhost. */
  readonly allowedHosts?: readonly string[];
  /** Decides who may connect over TCP. Default: everyone. */
  readonly admission?: Admission | undefined;
  /** The user at the other end of a unix socket; null if unknown. Default: users are not told apart. */
  readonly userAt?: ((socket: Duplex) => number | null) | undefined;
  readonly liveness?: LivenessOptions;
  /** Paths on which clients may connect. Default: only `/`; anything else is 404. */
  readonly paths?: 'root' | 'any';
  /** How to treat binary messages. Default: as a frame with bytes if it is one, else as text. */
  readonly binaryMessages?: 'text' | 'ignored';
  /** Called when a connection could not be accepted because descriptors or memory ran out. Listening continues. */
  readonly onAcceptError?: ((error: Error) => void) | undefined;
  /** Whose messages may be compressed. Default: clients on other machines. */
  readonly compression?: CompressionUse | undefined;
  /** Called when a client is turned away before it is connected. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  /** Limits on the number of connections. */
  readonly limits?: DoorLimits;
  /** Bytes of messages that have not ended yet, on all connections together. Default: 512 MiB. */
  readonly maxUnfinishedBytes?: number | undefined;
  /** What a token of another kind gives leave to: undefined if it is none, null if it no longer does. */
  readonly shareOf?: ((token: string) => object | null | undefined) | undefined;
  /** A socket that listens on the address already. Unless it is ours, its file is left in place. */
  readonly socket?: { readonly fd: number; readonly isOurs: boolean } | undefined;
  /** Another service on the same port. */
  readonly side?: SideService | undefined;
  readonly onConnection: (channel: Channel, connection: ListenerConnection) => void;
}

/** A client that was turned away. */
export interface Refusal {
  readonly peer: string;
  readonly status: number;
  readonly reason: string;
}

export interface ListenerConnection {
  /** The client's address, or `unix`. */
  readonly peer: string;
  /** Who the client is: its token, its subject, its user, or anyone who may connect. */
  readonly principal: string;
  /** Path and query of the request. */
  readonly url: string;
  /** What its token permits, from `shareOf`, instead of everything. */
  readonly share?: object | undefined;
  /** Makes the client prove that it is alive. */
  readonly probe: () => void;
  /**
   * Call when the handshake is done. Without authentication, only this tells clients that use the server from those
   * that merely hold connections; until then, the connection may be ended in favour of others.
   */
  readonly introduced: () => void;
}
