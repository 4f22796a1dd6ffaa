export { BusChannel } from './bus-channel.js';
export { TICK_MS } from './channel-watch.js';
export { Kind, readDatagram } from './datagram.js';
export { BusShares } from './shares.js';
export { resetDatagram } from './reset.js';
