import type { FileSystem } from '../contract/index.js';
import { type AppMethods, decodeBase64, encodeBase64, ExecError } from '../protocol/index.js';
import type { Handlers } from '../rpc/index.js';
import { asAppFileError } from './file-errors.js';
import { FileWatches } from './file-watches.js';
import type { HandlerContext } from './handler-context.js';
import { absolutePath } from './start-run.js';

/** More than this, as base64, does not fit into one string. */
const MAX_READ_BYTES = 384 * 1024 * 1024;

type FileMethods = Pick<AppMethods, Extract<keyof AppMethods, `fs/${string}`>>;

/** The `fs/*` methods of one connection. They never wait for each other. */
export function fileHandlers(context: HandlerContext): Handlers<FileMethods> {
  const watches = new FileWatches(context);
  /** `refusesKinds`: the wrong kind of file is an invalid request here, not a system error. */
  const on = async <Value>(
    environmentId: string | null | undefined,
    work: (files: FileSystem) => Promise<Value>,
    options: { refusesKinds?: boolean } = {},
  ): Promise<Value> => {
    const { files } = await context.environment(environmentId);
    try {
      return await work(files);
    } catch (error) {
      throw asAppFileError(error, { refusesKinds: options.refusesKinds ?? false });
    }
  };
  return {
    'fs/readFile': async ({ path, environmentId }) => {
      const read = (files: FileSystem) => files.readFile(absolutePath(path));
      return { dataBase64: fileText(await on(environmentId, read, { refusesKinds: true })) };
    },
    'fs/writeFile': async ({ path, dataBase64, environmentId }) => {
      const bytes = fileContent(dataBase64);
      await on(environmentId, (files) => files.writeFile(absolutePath(path), bytes));
      return {};
    },
    'fs/createDirectory': async ({ path, recursive, environmentId }) => {
      const options = { recursive: recursive ?? true };
      await on(environmentId, (files) => files.createDirectory(absolutePath(path), options));
      return {};
    },
    'fs/getMetadata': async ({ path, environmentId }) => {
      const found = await on(environmentId, (files) => files.getMetadata(absolutePath(path)));
      const { isDirectory, isFile, isSymlink, createdAtMs, modifiedAtMs } = found;
      return { isDirectory, isFile, isSymlink, createdAtMs, modifiedAtMs };
    },
    'fs/readDirectory': async ({ path, environmentId }) => {
      const found = await on(environmentId, (files) => files.readDirectory(absolutePath(path)));
      const entries = found.map(({ name, isDirectory, isFile }) => ({ fileName: name, isDirectory, isFile }));
      return { entries };
    },
    'fs/remove': async ({ path, recursive, force, environmentId }) => {
      const options = { recursive: recursive ?? true, force: force ?? true };
      await on(environmentId, (files) => files.remove(absolutePath(path), options));
      return {};
    },
    'fs/copy': async ({ sourcePath, destinationPath, recursive, environmentId }) => {
      const copy = (files: FileSystem) =>
        files.copy(absolutePath(sourcePath), absolutePath(destinationPath), { recursive });
      await on(environmentId, copy, { refusesKinds: true });
      return {};
    },
    'fs/watch': async ({ watchId, path, environmentId }) => {
      const watched = absolutePath(path);
      await on(environmentId, (files) => watches.add(watchId, { files, path: watched }));
      return { path: watched };
    },
    'fs/unwatch': async ({ watchId }) => {
      await watches.remove(watchId);
      return {};
    },
  };
}

function fileText(bytes: Uint8Array): string {
  if (bytes.length <= MAX_READ_BYTES) return encodeBase64(bytes);
  throw new ExecError('fileTooLarge', `file is too large to read: limit is ${MAX_READ_BYTES} bytes`);
}

function fileContent(dataBase64: string): Uint8Array {
  try {
    return decodeBase64(dataBase64, 'invalidData');
  } catch (cause) {
    throw new ExecError('invalidData', 'fs/writeFile requires valid base64 dataBase64', { cause });
  }
}
