import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from './package-file.js';

/** A place whose content the server, or the next one of this user, runs or obeys without a sandbox. */
export interface OwnPlace {
  /** Without links. */
  readonly path: string;
  /** `block`: nobody may make it either. */
  readonly whenMissing: 'block' | 'skip';
}

let known: readonly OwnPlace[] | undefined;

/**
 * Node, our own code and the libraries it loads, some of it long after the start, our configuration, and the code Node keeps
 * for us: as far as our own user could change them. Looked for once, before anything confined has run.
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

/** Where the libraries lie that our modules find, and the folders nearer by, not there yet, in which they would be found first. */
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

/** As `configurationHome` and the loader of the command line have it. */
function homePlaces({ EXECWIRE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string[] {
  return [
    EXECWIRE_HOME || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'execwire'),
    join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'execwire'),
  ];
}

/** Nothing where only others can change it, or not even its directory is there. */
function placeAt(path: string): OwnPlace[] {
  try {
    if (existsSync(path)) return ofOurs(realpathSync(path), 'skip');
    return ofOurs(join(realpathSync(dirname(path)), basename(path)), 'block');
  } catch {
    return [];
  }
}

function ofOurs(path: string, whenMissing: OwnPlace['whenMissing']): OwnPlace[] {
  const { uid } = lstatSync(whenMissing === 'skip' ? path : dirname(path));
  return uid === process.geteuid?.() || process.geteuid?.() === 0 ? [{ path, whenMissing }] : [];
}
