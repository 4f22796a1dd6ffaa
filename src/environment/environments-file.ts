import { resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { ExecError } from '../protocol/errors.js';
import { homeDirectory } from '../protocol/home-directory.js';
import { environmentsPath, fileExists } from './configuration-home.js';
import {
  configFromFile,
  ENTRY_KEYS,
  type EnvironmentConfig,
  EnvironmentsFile,
  type EnvironmentsConfig,
  FILE_KEYS,
} from './configuration.js';
import { readTextFile } from './text-file.js';

/** Reads `environments.toml` from a directory; undefined if there is none. Errors name file, line and reason. */
export function readEnvironmentsFile(home: string): EnvironmentsConfig | undefined {
  const path = environmentsPath(home);
  if (!fileExists(path)) return undefined;
  const config = parseEnvironments(readTextFile(path), path);
  return { ...config, environments: config.environments.map((entry) => withAbsolutePaths(entry, home)) };
}

/** Parses the text of an environments file; `path` is used only in messages. */
export function parseEnvironments(text: string, path: string): EnvironmentsConfig {
  const outcome = EnvironmentsFile.safeParse(parseToml(text, path));
  if (outcome.success) return configFromFile(outcome.data);
  const [issue] = outcome.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const where = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])];
  const key = where.findLast((part) => typeof part === 'string');
  const reason =
    unknown === undefined
      ? `${String(key)}: ${issue?.message ?? 'invalid'}`
      : `unknown key "${unknown}"; known here: ${(where[0] === 'environments' ? ENTRY_KEYS : FILE_KEYS).join(', ')}`;
  throw invalid(path, lineOf(text, where), reason);
}

function parseToml(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw invalid(path, error.line, error.message.split('\n', 1)[0] ?? 'not TOML');
  }
}

function invalid(path: string, line: number, reason: string): ExecError {
  return new ExecError('invalidConfiguration', `${path}:${line}: ${reason}`, { data: { path, line } });
}

/** The line of a key, within the n-th `[[environments]]` block if the path refers to one. */
function lineOf(text: string, path: readonly PropertyKey[]): number {
  const block = path[0] === 'environments' && typeof path[1] === 'number' ? path[1] : -1;
  const key = path.findLast((part) => typeof part === 'string');
  let current = -1;
  let blockLine = 1;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*\[\[\s*environments\s*\]\]/.test(line)) {
      current += 1;
      if (current === block) blockLine = index + 1;
    }
    const name = /^\s*"?([A-Za-z0-9_-]+)"?\s*(?:=|\.)/.exec(line)?.[1];
    if (current === block && name === key) return index + 1;
  }
  return blockLine;
}

/** Relative paths start at the directory of the file, and `~` is the home directory. */
function withAbsolutePaths(entry: EnvironmentConfig, home: string): EnvironmentConfig {
  const absolute = (path: string): string => resolve(home, path.replace(/^~(?=\/|$)/, homeDirectory()));
  if ('program' in entry) return entry.cwd === undefined ? entry : { ...entry, cwd: absolute(entry.cwd) };
  return entry.tokenFile === undefined ? entry : { ...entry, tokenFile: absolute(entry.tokenFile) };
}
