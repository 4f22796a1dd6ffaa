import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { homeDirectory } from '../protocol/home-directory.js';

const FILE_NAME = 'environments.toml';

/** Variables that name a server; ours takes precedence. */
export const URL_VARIABLES = ['EXECWIRE_SERVER_URL', 'CODEX_EXEC_SERVER_URL'] as const;

/** The configuration directory: `EXECWIRE_HOME`, or `execwire` in the user's config directory. */
export function configurationHome(variables: NodeJS.ProcessEnv = process.env): string {
  if (variables.EXECWIRE_HOME) return resolve(variables.EXECWIRE_HOME);
  return join(variables.XDG_CONFIG_HOME || join(homeDirectory(), '.config'), 'execwire');
}

/** The file that lists environments in a configuration directory. */
export function environmentsPath(home: string): string {
  return join(home, FILE_NAME);
}

/**
 * False only if the file does not exist. A file that cannot be checked is an error; otherwise this machine would
 * silently take its place.
 */
export function fileExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Whether anything is configured at all. Checking this is cheap; reading the configuration takes a parser and schemas.
 */
export function isConfigured(variables: NodeJS.ProcessEnv = process.env): boolean {
  return (
    fileExists(environmentsPath(configurationHome(variables))) ||
    URL_VARIABLES.some((name) => variables[name]?.trim())
  );
}
