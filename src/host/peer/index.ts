export { admitsPeer } from './admits-peer.js';
export { isOwnDoor } from './own-door.js';
export { peerUser } from './peer-user.js';
export type { ConnectionEnds } from './socket-table.js';
