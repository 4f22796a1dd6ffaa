import type { OpenFileSystem } from './file-bench.js';
import { fileContentContract } from './file-content.contract.js';
import { fileMovesContract } from './file-moves.contract.js';
import { fileLinksContract } from './file-links.contract.js';
import { filePlacementContract } from './file-placement.contract.js';
import { fileSearchContract } from './file-search.contract.js';
import { fileTreeContract } from './file-tree.contract.js';
import { fileWatchContract } from './file-watch.contract.js';

/** What every FileSystem does, whichever machine and wire is behind it. */
export function fileSystemContract(name: string, open: OpenFileSystem): void {
  fileContentContract(name, open);
  fileTreeContract(name, open);
  fileMovesContract(name, open);
  filePlacementContract(name, open);
  fileLinksContract(name, open);
  fileWatchContract(name, open);
  fileSearchContract(name, open);
}
