export { becomeKeeper } from './become-keeper.js';
export { KeeperLink, takeKeeperFacts } from './keeper-link.js';
export { lockFile } from './lock-file.js';
export type { KeeperFacts } from './server-process.js';
export { KEEPER_VERSION, type Predecessor } from './messages.js';
