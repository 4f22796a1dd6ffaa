export { BlockPool } from './block-pool.js';
export { Budget } from './budget.js';
export { Drafts } from './copy-draft.js';
export { copyFile } from './copy-file.js';
export type { CopyJob } from './copy-job.js';
export type { FilePlace, Original } from './file-place.js';
export {
  type CopyManner,
  type CopyObserver,
  copyPath,
  jobFor,
} from './copy-path.js';
export { hasNothing, isDirectory, type OpenPlace } from './open-place.js';
export { expandPattern, isPattern } from './remote-pattern.js';
export { copyFromStream, copyToStream } from './copy-stream.js';
export { copyTree, type TreeCopyJob } from './copy-tree.js';
export { LineBudget } from './line-budget.js';
export { childPath } from './listing.js';
export { measureTree } from './measure-tree.js';
export { Persistence } from './persistence.js';
export { modeOf } from './source-look.js';
