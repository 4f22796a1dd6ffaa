export { becomeKeeper } from './become-keeper.js';
export { type Inherited, KeeperLink, takeKeeperFacts } from './keeper-link.js';
export { lockFile } from './lock-file.js';
