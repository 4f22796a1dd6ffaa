import { hostname } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { homeDirectory } from '../../protocol/home-directory.js';

/** Keys from the top of a configuration file down to the wanted value. */
export type KeyPath = readonly string[];

/** What one configuration file says about the wanted keys. */
export interface ConfigLayer {
  /** A description of its origin, for people. */
  readonly source: string;
  readonly baseDir: string;
  readonly toml: string;
}

export interface EnvironmentConfig {
  readonly userHomeDir: string;
  readonly codexHomeDir: string;
  readonly hostname: string;
  /** Lowest precedence first. */
  readonly config: readonly ConfigLayer[];
  readonly requirements: readonly ConfigLayer[];
}

const SYSTEM_DIRECTORY = '/etc/codex';

/** A larger file was not written by a person. */
const MAX_CONFIG_BYTES = 1024 * 1024;

export function userHomeDirectory(): string {
  return homeDirectory();
}

/** Codex's home directory of the user this server runs as. */
export function codexHomeDirectory(): string {
  return process.env['CODEX_HOME'] ?? join(homeDirectory(), '.codex');
}

/** The machine's own settings, limited to the requested keys. Missing files are skipped. */
export async function readEnvironmentConfig(
  files: FileSystem,
  wanted: { config: readonly KeyPath[]; requirements: readonly KeyPath[] },
): Promise<EnvironmentConfig> {
  const home = userHomeDirectory();
  const codexHome = codexHomeDirectory();
  const layer = (name: string, baseDir: string, file: string, paths: readonly KeyPath[]) =>
    readLayer(files, { name, baseDir, file, paths });
  return {
    userHomeDir: home,
    codexHomeDir: codexHome,
    hostname: hostname(),
    config: [
      ...(await layer('system', SYSTEM_DIRECTORY, 'config.toml', wanted.config)),
      ...(await layer('user', codexHome, 'config.toml', wanted.config)),
    ],
    requirements: await layer('system', SYSTEM_DIRECTORY, 'requirements.toml', wanted.requirements),
  };
}

/** One layer, or none if the file is missing or lacks the wanted keys. */
async function readLayer(
  files: FileSystem,
  { name, baseDir, file, paths }: { name: string; baseDir: string; file: string; paths: readonly KeyPath[] },
): Promise<ConfigLayer[]> {
  const path = join(baseDir, file);
  const text = paths.length === 0 ? null : await textOf(files, path);
  if (text === null) return [];
  const selected = select(await parse(text, path), paths);
  if (Object.keys(selected).length === 0) return [];
  const { stringify } = await import('smol-toml');
  return [{ source: `${name} (${path})`, baseDir, toml: stringify(selected) }];
}

async function textOf(files: FileSystem, path: string): Promise<string | null> {
  try {
    const { size } = await files.getMetadata(path);
    if (size > MAX_CONFIG_BYTES)
      throw new ExecError('fileTooLarge', `${path} is too large for a configuration`);
    return Buffer.from(await files.readFile(path)).toString();
  } catch (error) {
    if (isExecError(error, 'notFound')) return null;
    throw error;
  }
}

type Table = Record<string, unknown>;

/** Loaded only if there is a file to read. The error must not quote the file. */
async function parse(text: string, path: string): Promise<Table> {
  const { parse: parseToml } = await import('smol-toml');
  try {
    return parseToml(text);
  } catch (error) {
    throw new ExecError('ioFailed', `${path} is not valid TOML`, { cause: error });
  }
}

function select(table: Table, paths: readonly KeyPath[]): Table {
  const selected: Table = Object.create(null) as Table;
  for (const path of paths) {
    const value = valueAt(table, path);
    if (value !== undefined) put(selected, path, value);
  }
  return selected;
}

function valueAt(table: Table, path: KeyPath): unknown {
  let value: unknown = table;
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function put(target: Table, path: KeyPath, value: unknown): void {
  let table = target;
  for (const key of path.slice(0, -1)) {
    const inner = table[key];
    // A shorter path already covered everything below it.
    const next: Table = isTable(inner) ? { ...inner } : {};
    table[key] = next;
    table = next;
  }
  table[path.at(-1) ?? ''] = value;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
