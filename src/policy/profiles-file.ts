import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { ExecError } from '../protocol/errors.js';

const PROFILES_FILE = 'permissions.toml';

/** Reads the `[permissions.NAME]` tables of a configuration directory. Empty without a file. */
export function readProfiles(directory: string): unknown {
  const path = join(directory, PROFILES_FILE);
  if (!existsSync(path)) return {};
  try {
    return parse(readFileSync(path, 'utf8')).permissions ?? {};
  } catch (cause) {
    throw new ExecError('invalidConfiguration', `${path} is not valid TOML.`, { cause });
  }
}
