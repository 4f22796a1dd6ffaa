export { BinaryMessage, binaryMessage, DeflatedMessage, frameText, isBinaryFrame } from './binary-frame.js';
export { BufferPool } from './buffer-pool.js';
export { ByteStream, type StreamUser } from './byte-stream/byte-stream.js';
export { streamLine } from './byte-stream/stream-line.js';
export { UntakenRoom } from './byte-stream/untaken-room.js';
export { MAX_PIECE_BYTES } from './byte-stream/outgoing-bytes.js';
export { ByteBudget, SHARE_BYTES } from './byte-budget.js';
export { BytesResult } from './bytes-result.js';
export {
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  messageText,
  type OutgoingMessage,
  type PartPlace,
  type PassedChannel,
  PartCollector,
} from './channel.js';
export { LineAccount } from './line-account.js';
export { LineWindow } from './line-window.js';
export { Outbox } from './outbox.js';
export { type PeerHandler, RpcPeer } from './peer.js';
export type { CallDeadline } from './pending-calls.js';
export {
  type Answer,
  DeferredAnswer,
  type Handlers,
  LargeAnswer,
  type ErrorWording,
  Router,
  validate,
} from './router.js';
export { traced } from './trace.js';
export { type Attachment, WithBytes } from './with-bytes.js';
export { inspectJson } from './json-structure.js';
export { ownTurn } from './turns.js';
