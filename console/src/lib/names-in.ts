import type { FileSystem } from '../../../src/contract/index.js';

/**
 * What a directory holds at this moment. The list on a page is a moment older, and whoever relies on it replaces a file that
 * somebody has just made.
 */
export async function namesIn(files: FileSystem, directory: string): Promise<ReadonlySet<string>> {
  return new Set((await files.readDirectory(directory)).map(({ name }) => name));
}
