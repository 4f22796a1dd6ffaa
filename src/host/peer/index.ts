export { admitsPeer } from './admits-peer.js';
export type { ConnectionEnds } from './socket-table.js';
