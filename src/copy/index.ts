export { Budget } from './budget.js';
export { Drafts } from './copy-draft.js';
export { type CopyJob, copyFile, type FilePlace, type Original } from './copy-file.js';
export { type CopyObserver, copyPath, jobFor, modeOf, type OpenPlace } from './copy-path.js';
export { copyFromStream, copyToStream } from './copy-stream.js';
export { childPath, copyTree, type TreeCopyJob } from './copy-tree.js';
