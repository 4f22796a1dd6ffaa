import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { fileContentContract } from './file-content.contract.js';
import { fileMovesContract } from './file-moves.contract.js';
import { fileLinksContract } from './file-links.contract.js';
import { filePlacementContract } from './file-placement.contract.js';
import { fileSystemContract } from './file-system.contract.js';
import { fileTreeContract } from './file-tree.contract.js';

fileSystemContract('local', async () => ({
  files: new LocalFileSystem(),
  [Symbol.asyncDispose]: async () => undefined,
}));

/** The same without what the kernel answers from memory: so it goes on other systems, and on network file systems. */
for (const contract of [
  fileContentContract,
  fileTreeContract,
  fileMovesContract,
  filePlacementContract,
  fileLinksContract,
]) {
  contract('local, thread pool', async () => ({
    files: new LocalFileSystem({ fastPath: false }),
    [Symbol.asyncDispose]: async () => undefined,
  }));
}
