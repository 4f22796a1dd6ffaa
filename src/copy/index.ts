export { type CopyObserver, copyPath, jobFor } from './copy-path.js';
export { hasNothing, isDirectory, type OpenPlace } from './open-place.js';
export { expandPattern, isPattern } from './remote-pattern.js';
export { copyFromStream, copyToStream } from './copy-stream.js';
export { measureTree } from './measure-tree.js';
export { modeOf } from './source-look.js';
