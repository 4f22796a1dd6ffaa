import { expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';

// The kernel answers "no such directory" to whoever wants to make one there, though the parent exists.
test.each(['/proc/nowhere', '/proc/nowhere/below', '/proc/self/nowhere/far/below'])(
  'directories cannot be made in %s, which is said at once',
  async (path) => {
    const files = new LocalFileSystem();
    await expect(files.createDirectory(path)).rejects.toThrow('No such file or directory');
    await expect(files.createDirectory(path, { followSymlinks: false })).rejects.toThrow();
  },
);
