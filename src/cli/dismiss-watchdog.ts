/** A module of its own for a command that loads it late: bundlers stumble over a door of which a single name is imported so. */
export { dismissWatchdog } from '../host/index.js';
