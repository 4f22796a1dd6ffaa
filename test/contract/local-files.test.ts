import { LocalFileSystem } from '../../src/host/files/index.js';
import { fileSystemContract } from './file-system.contract.js';

fileSystemContract('local', async () => ({
  files: new LocalFileSystem(),
  [Symbol.asyncDispose]: async () => undefined,
}));
