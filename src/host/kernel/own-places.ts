import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from './package-file.js';
import { homeDirectory } from '../../protocol/home-directory.js';

/** A path whose content this server, or the user's next one, runs or obeys outside any sandbox. */
export interface OwnPlace {
  /** With symbolic links resolved. */
  readonly path: string;
  /** `block`: creating it is forbidden, too. */
  readonly whenMissing: 'block' | 'skip';
}

let known: readonly OwnPlace[] | undefined;

/**
 * Node, our code, the libraries it loads (some long after startup), our configuration, and the code cache Node keeps
 * for us: whichever of them our own user could change. Determined once, before anything runs in a sandbox.
 */
export function ownPlaces(): readonly OwnPlace[] {
  known ??= findPlaces();
  return known;
}

function findPlaces(): OwnPlace[] {
  const paths = new Set([process.execPath, ...packagePlaces(), ...homePlaces(process.env)]);
  return [...paths].flatMap(placeAt);
}

function packagePlaces(): string[] {
  const manifest = fileURLToPath(packageFile('package.json'));
  return [manifest, ...['dist', 'bin'].map((name) => join(dirname(manifest), name)), ...libraries(manifest)];
}

/** Where our modules find their libraries, and the closer folders that do not exist yet but would take precedence. */
function libraries(manifest: string): string[] {
  const { dependencies, optionalDependencies } = readManifest(manifest);
  const { resolve } = createRequire(manifest);
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const folders = resolve.paths(name) ?? [];
    const found = folders.findIndex((folder) => existsSync(join(folder, name)));
    if (found < 0) return [];
    const nearer = folders.slice(0, found).filter((folder) => !existsSync(folder));
    return [...nearer, join(folders[found] ?? '', name)];
  });
}

function readManifest(path: string): Partial<Record<'dependencies' | 'optionalDependencies', object>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof readManifest>;
  } catch {
    return {};
  }
}

/** Must agree with `configurationHome` and the loader of the command line. */
function homePlaces({ EXECWIRE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string[] {
  return [
    EXECWIRE_HOME || join(XDG_CONFIG_HOME || join(homeDirectory(), '.config'), 'execwire'),
    join(XDG_CACHE_HOME || join(homeDirectory(), '.cache'), 'execwire'),
  ];
}

/** Empty if only other users can change it, or if not even its directory exists. */
function placeAt(path: string): OwnPlace[] {
  try {
    if (existsSync(path)) return ifOurs(realpathSync(path), 'skip');
    return ifOurs(join(realpathSync(dirname(path)), basename(path)), 'block');
  } catch {
    return [];
  }
}

function ifOurs(path: string, whenMissing: OwnPlace['whenMissing']): OwnPlace[] {
  const { uid } = lstatSync(whenMissing === 'skip' ? path : dirname(path));
  return uid === process.geteuid?.() || process.geteuid?.() === 0 ? [{ path, whenMissing }] : [];
}
