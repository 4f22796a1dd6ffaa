import { resolve } from 'node:path';
import { resolve as resolvePosix } from 'node:path/posix';
import type { Environment } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { isFileUri, parseFileUri, pathText } from '../../protocol/file-uri.js';

/** One end of a copy: our own stdin or stdout, or a path on some machine. */
export type CopyLocation =
  | { readonly kind: 'stream' }
  | { readonly kind: 'path'; readonly target: string | undefined; readonly path: string };

/** `ws://…:/path`. The path starts after the first colon behind the host that is followed by a slash. */
const URL_LOCATION = /^((?:wss?|https?|unix):\/\/.+?):(\/.*|file:.*)$/;
/** `ws://…:path`, relative to the home directory, which a colon alone stands for. A number is a port. */
const RELATIVE_URL_LOCATION =
  /^((?:ws|http)s?:\/\/(?:\[[^\]]*\]|[^/:]+)(?::\d+)?(?:\/[^:]*)?|unix:\/\/\/[^:]+):((?!\d+$|\d+\/)[^/].*|)$/;
/** `fleet:name:path`, or a selector in place of the name. */
const FLEET_LOCATION = /^(fleet:[^:/]+):(.*)$/;
/** `id:path`. A path with a slash before its first colon is local. */
const ID_LOCATION = /^([A-Za-z0-9_-]{0,64}):(.*)$/;

/**
 * Parses `-`, `path`, `id:path`, `URL:path`, or `:path` for the environment given with -e or the default one.
 */
export function parseLocation(text: string, options: { environment?: string } = {}): CopyLocation {
  if (text === '-') return { kind: 'stream' };
  const [, url, urlPath] =
    URL_LOCATION.exec(text) ?? RELATIVE_URL_LOCATION.exec(text) ?? FLEET_LOCATION.exec(text) ?? [];
  if (url !== undefined) return { kind: 'path', target: url, path: urlPath ?? '' };
  if (/^(?:wss?|https?|unix):\/\//.test(text)) throw noPath();
  const [, id, path] = isFileUri(text) ? [] : (ID_LOCATION.exec(text) ?? []);
  if (id === undefined) return { kind: 'path', target: 'local', path: text };
  return { kind: 'path', target: id === '' ? options.environment : id, path: path ?? '' };
}

/** Makes a path absolute. On another machine, a relative path starts in the home directory, as with ssh. */
export async function resolvePath(environment: Environment, path: string): Promise<string> {
  if (isFileUri(path)) return path;
  if (environment.id === 'local') return resolve(path);
  if (path.startsWith('/')) return path;
  const { cwd, userHomeDir } = await environment.info();
  const base = userHomeDir ?? cwd ?? 'file:///';
  return resolvePosix(pathText(parseFileUri(base)), path.replace(/^~(\/|$)/, './'));
}

function noPath(): ExecError {
  return new ExecError(
    'invalidConfiguration',
    'A path must follow the address, after a colon: ws://HOST:PORT:/PATH, or ws://HOST:PORT: for the home directory.',
  );
}
