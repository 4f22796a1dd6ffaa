/**
 * How messages travel: over WebSockets, a program's standard streams or an in-memory pair; dialling, listening and
 * relaying.
 *
 * @module execwire/transport
 */

export type {
  BinaryMessage,
  Channel,
  ChannelReceiver,
  CloseReason,
  OutgoingMessage,
  PartPlace,
} from '../rpc/index.js';
export type { Admission, ConnectionEnds } from './admission.js';
export type { DoorLimits } from './door.js';
export type { Deadline } from './deadline.js';
export type { CompressionUse } from './websocket-deflate.js';
export { LineChannel, type LineChannelOptions, MAX_LINE_BYTES } from './lines.js';
export { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.js';
export { DEFAULT_LIVENESS, type LivenessOptions } from './liveness.js';
export { createMemoryChannels } from './memory.js';
export { relay, type RelayEnd } from './relay.js';
export { type ProgramOptions, startProgram } from './start-program.js';
export { MIN_SHARED_SECRET_BYTES, sha256, type WebSocketAuth } from './websocket-auth.js';
export { DEFAULT_CONNECT_TIMEOUT_MS, type DialOptions, dialWebSocket } from './websocket-dial.js';
export type { ListenerConnection, Refusal, WebSocketListenerOptions } from './listener-options.js';
export type { SideService } from './side-service.js';
export { WebSocketListener } from './websocket-listener.js';
