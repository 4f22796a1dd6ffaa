import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ExecError } from '../protocol/errors.js';
import { homeDirectory } from '../protocol/home-directory.js';

const FILE_NAME = 'environments.toml';

/** Variables that name a server; ours takes precedence. */
export const URL_VARIABLES = ['EXECWIRE_SERVER_URL', 'CODEX_EXEC_SERVER_URL'] as const;

/** The configuration directory: `EXECWIRE_HOME`, or `execwire` in the user's config directory. */
export function configurationHome(variables: NodeJS.ProcessEnv = process.env): string {
  if (variables.EXECWIRE_HOME) return resolve(variables.EXECWIRE_HOME);
  return join(variables.XDG_CONFIG_HOME || join(homeDirectory(), '.config'), 'execwire');
}

/** Names the NATS servers of our fleet, or a settings file. */
export const FLEET_VARIABLE = 'EXECWIRE_FLEET';

/** How to reach our fleet: `EXECWIRE_FLEET`, or the settings in the configuration directory. */
export function fleetSource(variables: NodeJS.ProcessEnv = process.env): string {
  const given = variables[FLEET_VARIABLE]?.trim();
  if (given) return given;
  const path = fleetPath(configurationHome(variables));
  if (fileExists(path)) return path;
  throw new ExecError(
    'invalidConfiguration',
    `No fleet is configured. Set ${FLEET_VARIABLE} to nats://HOST:PORT or to a settings file, or put one at ${path}.`,
  );
}

/** The settings of our fleet in a configuration directory. */
export function fleetPath(home: string): string {
  return join(home, 'fleet.toml');
}

/** The file that lists environments in a configuration directory. */
export function environmentsPath(home: string): string {
  return join(home, FILE_NAME);
}

/** Everything in a configuration directory that may hold tokens for other machines. */
export function secretPaths(home: string): string[] {
  return [environmentsPath(home), fleetPath(home), join(home, 'tokens')];
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
