import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '../../src/contract/index.js';
import { isExecError } from '../../src/protocol/index.js';

/** Opens a file system of this machine's files, by whatever way. */
export type OpenFileSystem = () => Promise<{ files: FileSystem } & AsyncDisposable>;

export interface FileBench extends AsyncDisposable {
  readonly files: FileSystem;
  /** A fresh directory; `at('a')` is a path in it. */
  at(name?: string): string;
}

/** A file system and an empty directory to use it on. */
export async function prepare(open: OpenFileSystem): Promise<FileBench> {
  const opened = await open();
  const directory = mkdtempSync(join(tmpdir(), 'execwire-files-'));
  return {
    files: opened.files,
    at: (name) => (name === undefined ? directory : join(directory, name)),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The code of the error a call ends with. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return isExecError(error) ? error.code : `not ours: ${String(error)}`;
  }
  return 'no error';
}
