import type { FileSystem } from '../contract/index.js';
import { type AppMethods, decodeBase64, encodeBase64, ExecError, type Sandbox } from '../protocol/index.js';
import type { Handlers } from '../rpc/index.js';
import { asAppFileError } from './file-errors.js';
import { FileWatches } from './file-watches.js';
import type { HandlerContext } from './handler-context.js';
import { absolutePath } from './start-run.js';

/** More than this, as base64, does not fit into one string. */
const MAX_READ_BYTES = 384 * 1024 * 1024;

type FileMethods = Pick<AppMethods, Extract<keyof AppMethods, `fs/${string}`>>;

/** Which files are meant: those of an environment, as they are or as a set of held changes has them. */
interface Target {
  readonly environmentId?: string | null | undefined;
  readonly changesId?: string | null | undefined;
}

interface Held {
  readonly sandbox?: Sandbox;
}

/** The `fs/*` methods of one connection. They never wait for each other. */
export function fileHandlers(context: HandlerContext): Handlers<FileMethods> {
  const watches = new FileWatches(context);
  /** `refusesKinds`: the wrong kind of file is an invalid request here, not a system error. */
  const on = async <Value>(
    { environmentId, changesId }: Target,
    work: (files: FileSystem, held: Held) => Promise<Value>,
    options: { refusesKinds?: boolean } = {},
  ): Promise<Value> => {
    const environment = await context.environment(environmentId);
    const held = changesId == null ? {} : { sandbox: context.held.of(environment, changesId) };
    try {
      return await work(environment.files, held);
    } catch (error) {
      throw asAppFileError(error, { refusesKinds: options.refusesKinds ?? false });
    }
  };
  return {
    'fs/readFile': async ({ path, ...target }) => {
      const read = (files: FileSystem, held: Held) => files.readFile(absolutePath(path), held);
      return { dataBase64: fileText(await on(target, read, { refusesKinds: true })) };
    },
    'fs/writeFile': async ({ path, dataBase64, ...target }) => {
      const bytes = fileContent(dataBase64);
      await on(target, (files, held) => files.writeFile(absolutePath(path), bytes, held));
      return {};
    },
    'fs/createDirectory': async ({ path, recursive, ...target }) => {
      const options = { recursive: recursive ?? true };
      await on(target, (files, held) => files.createDirectory(absolutePath(path), { ...options, ...held }));
      return {};
    },
    'fs/getMetadata': async ({ path, ...target }) => {
      const found = await on(target, (files, held) => files.getMetadata(absolutePath(path), held));
      const { isDirectory, isFile, isSymlink, createdAtMs, modifiedAtMs } = found;
      return { isDirectory, isFile, isSymlink, createdAtMs, modifiedAtMs };
    },
    'fs/readDirectory': async ({ path, ...target }) => {
      const found = await on(target, (files, held) => files.readDirectory(absolutePath(path), held));
      const entries = found.map(({ name, isDirectory, isFile }) => ({ fileName: name, isDirectory, isFile }));
      return { entries };
    },
    'fs/remove': async ({ path, recursive, force, ...target }) => {
      const options = { recursive: recursive ?? true, force: force ?? true };
      await on(target, (files, held) => files.remove(absolutePath(path), { ...options, ...held }));
      return {};
    },
    'fs/copy': async ({ sourcePath, destinationPath, recursive, ...target }) => {
      const copy = (files: FileSystem, held: Held) =>
        files.copy(absolutePath(sourcePath), absolutePath(destinationPath), { recursive, ...held });
      await on(target, copy, { refusesKinds: true });
      return {};
    },
    'fs/watch': async ({ watchId, path, environmentId }) => {
      const watched = absolutePath(path);
      await on({ environmentId }, (files) => watches.add(watchId, { files, path: watched }));
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
