import { setMaxListeners } from 'node:events';
import type {
  DirectoryEntry,
  LinkDetails,
  LinkOptions,
  PermissionOptions,
  TimeOptions,
} from '../../contract/index.js';
import type { HostFileSystem } from '../../host/index.js';
import { ConcurrencyLimit } from '../../protocol/concurrency-limit.js';
import {
  decodeBase64,
  encodeBase64,
  type ExecMethodName,
  type ExecResult,
  execMethods,
  fileUri,
  isFileUri,
  type Sandbox,
} from '../../protocol/index.js';
import { BytesResult } from '../../rpc/index.js';
import type { BulkGarbage } from '../bulk-garbage.js';
import type { ConnectionContext, Handlers } from './connection-context.js';
import { FileHandles } from './file-handles.js';
import { FileWatches } from './file-watches.js';
import { MissingWatchSlot } from './missing-watch.js';
import { searchFiles } from './search-handler.js';
import { wirePath } from './wire-path.js';

/** Of one connection: each search is a program that uses a whole core. */
const SEARCHES_AT_A_TIME = 2;

type FileMethodName = Extract<ExecMethodName, `fs/${string}`>;

/** The file methods of one connection. Its handles and watches are released when the context's signal aborts. */
export function fileHandlers(
  context: ConnectionContext & { files: HostFileSystem; garbage?: BulkGarbage },
): Handlers<FileMethodName> {
  const { files } = context;
  // Everything owned by the connection listens for its end, so many listeners are no leak.
  setMaxListeners(0, context.signal);
  const handles = new FileHandles(files, context.signal, context.garbage);
  const missing = new MissingWatchSlot(files, context);
  const watches = new FileWatches(files, context);
  const searches = new ConcurrencyLimit(SEARCHES_AT_A_TIME);
  context.owns(() => handles.size > 0 || watches.size > 0);
  context.watchesMissing(missing);
  return {
    'fs/readFile': async (params) => {
      const bytes = await files.openContent(wirePath(params.path), linkOptions(params));
      return new BytesResult({ member: execMethods['fs/readFile'].bytes.result, bytes });
    },
    'fs/writeFile': async (params, bytes) => {
      const data = bytes ?? decodeBase64(params.dataBase64, 'invalidData');
      const options = {
        ...linkOptions(params),
        ...permissionOption(params),
        ...timeOption(params),
        atomic: params.atomic ?? false,
        exclusive: params.exclusive ?? false,
      };
      await files.writeFile(wirePath(params.path), data, options);
      return {};
    },
    'fs/createDirectory': async (params) => {
      const options = {
        ...linkOptions(params),
        ...permissionOption(params),
        ...timeOption(params),
        recursive: params.recursive ?? true,
      };
      await files.createDirectory(wirePath(params.path), options);
      return {};
    },
    'fs/createSymlink': async (params) => {
      const target = decodeBase64(params.targetBase64, 'invalidParams');
      const options = { ...linkOptions(params), ...timeOption(params), replace: params.replace ?? false };
      await files.createSymlink(wirePath(params.path), target, options);
      return {};
    },
    'fs/getMetadata': async (params) => {
      const options = { ...linkOptions(params), details: params.details ?? false };
      return withWireLink(await files.getMetadata(wirePath(params.path), options));
    },
    'fs/canonicalize': async (params) => ({
      path: fileUri(await files.canonicalize(wirePath(params.path), sandboxOption(params))),
    }),
    'fs/readDirectory': async (params) => {
      const options = { ...sandboxOption(params), details: params.details ?? false };
      const entries = await files.readDirectory(wirePath(params.path), options);
      return { entries: entries.map(wireEntry) };
    },
    'fs/walk': async (params) => {
      const options = { ...params.options, ...sandboxOption(params) };
      const { entries, errors, truncated } = await files.walk(wirePath(params.path), options);
      return { entries: entries.map(withUri), errors: errors.map(withUri), truncated };
    },
    'fs/remove': async (params) => {
      const { recursive, force } = params;
      const options = { ...linkOptions(params), recursive: recursive ?? true, force: force ?? true };
      await files.remove(wirePath(params.path), options);
      return {};
    },
    'fs/copy': async (params) => {
      const { recursive, keepTimes } = params;
      const options = { ...sandboxOption(params), recursive, keepTimes: keepTimes ?? false };
      await files.copy(wirePath(params.sourcePath), wirePath(params.destinationPath), options);
      return {};
    },
    'fs/rename': async (params) => {
      await files.rename(
        wirePath(params.sourcePath),
        wirePath(params.destinationPath),
        sandboxOption(params),
      );
      return {};
    },
    'fs/open': (params) => handles.open(params),
    'fs/readBlock': (params) => handles.read(params),
    'fs/writeBlock': async (params, bytes) => {
      await handles.write(params, bytes);
      return {};
    },
    'fs/close': async (params) => {
      await handles.close(params.handleId, params.renameTo ?? undefined, timeOption(params));
      return {};
    },
    'fs/watchMissing': (params) => missing.watch(params),
    'fs/watch': (params) => watches.watch(params),
    'fs/unwatch': async (params) => {
      await watches.unwatch(params.watchId);
      return {};
    },
    'fs/search': (params) => searches.run(() => searchFiles(params, context)),
  };
}

function sandboxOption(params: { sandbox?: Sandbox | null | undefined }): { sandbox: Sandbox | null } {
  return { sandbox: params.sandbox ?? null };
}

/** Absent unless given. */
function permissionOption(params: { permissions?: number | null | undefined }): PermissionOptions {
  const { permissions } = params;
  return typeof permissions === 'number' ? { permissions } : {};
}

function timeOption(params: { modifiedAtUs?: number | null | undefined }): TimeOptions {
  const { modifiedAtUs } = params;
  return typeof modifiedAtUs === 'number' ? { modifiedAtUs } : {};
}

/** What a link says need not be text. */
function withWireLink<Item extends { readonly link?: LinkDetails }>(
  item: Item,
): Omit<Item, 'link'> & { link?: { targetBase64: string; modifiedAtUs: number } } {
  const { link, ...rest } = item;
  if (!link) return rest;
  return { ...rest, link: { targetBase64: encodeBase64(link.target), modifiedAtUs: link.modifiedAtUs } };
}

function linkOptions(params: {
  sandbox?: Sandbox | null | undefined;
  followSymlinks?: boolean | null | undefined;
}): LinkOptions {
  return { ...sandboxOption(params), followSymlinks: params.followSymlinks ?? true };
}

function withUri<Item extends { readonly path: string }>(item: Item): Item {
  return { ...item, path: fileUri(item.path) };
}

/** Adds the path only if the name alone cannot address the entry. */
function wireEntry(entry: DirectoryEntry): ExecResult<'fs/readDirectory'>['entries'][number] {
  const { name, path, ...rest } = withWireLink(entry);
  return { fileName: name, ...rest, ...(isFileUri(path) ? { path } : {}) };
}
