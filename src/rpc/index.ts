export { AnswerSlot, AnswerQueue } from './answer-queue.js';
export { BinaryMessage, binaryMessage, DeflatedMessage, frameText, isBinaryFrame } from './binary-frame.js';
export { BufferPool } from './buffer-pool.js';
export {
  ByteStream,
  type StreamFailure,
  type StreamLine,
  type StreamUser,
} from './byte-stream/byte-stream.js';
export { type StreamCarrier, streamLine, type StreamMethods } from './byte-stream/stream-line.js';
export { UntakenRoom } from './byte-stream/untaken-room.js';
export { MAX_PIECE_BYTES, type NumberedBytes } from './byte-stream/outgoing-bytes.js';
export { ByteBudget, SHARE_BYTES } from './byte-budget.js';
export { BytesResult, type ByteSource } from './bytes-result.js';
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
export { Lanes } from './lanes.js';
export { LineAccount } from './line-account.js';
export { LineWindow } from './line-window.js';
export { parseMessage, type RawId } from './message.js';
export { OUTBOX_FULL_BYTES, Outbox } from './outbox.js';
export { type PeerHandler, RpcPeer } from './peer.js';
export type { CallDeadline } from './pending-calls.js';
export {
  type Answer,
  DeferredAnswer,
  type Handlers,
  LargeAnswer,
  type ErrorWording,
  Router,
  type RouterOptions,
  validate,
} from './router.js';
export { traced, type TraceLog } from './trace.js';
export { type Attachment, WithBytes } from './with-bytes.js';
export { inspectJson } from './json-structure.js';
export { ownTurn } from './turns.js';
