export { admitsPeer } from './admits-peer.js';
export { isOwnDoor } from './own-door.js';
export { peerUser } from './peer-user.js';
