export type { Channel, ChannelReceiver, CloseReason } from './channel.js';
export { Lanes } from './lanes.js';
export { parseMessage, type RawId } from './message.js';
export { OUTBOX_FULL_BYTES, Outbox } from './outbox.js';
export { type PeerHandler, RpcPeer } from './peer.js';
export { type Answer, AnswerLater, type Handlers, Router, validate } from './router.js';
