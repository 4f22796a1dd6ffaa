import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const FILE_NAME = 'environments.toml';

/** Variables that name one server, ours first. */
export const URL_VARIABLES = ['EXECWIRE_SERVER_URL', 'CODEX_EXEC_SERVER_URL'] as const;

/** Where configuration lives: `EXECWIRE_HOME`, or `execwire` in the user's config directory. */
export function configurationHome(variables: NodeJS.ProcessEnv = process.env): string {
  if (variables.EXECWIRE_HOME) return resolve(variables.EXECWIRE_HOME);
  return join(variables.XDG_CONFIG_HOME || join(homedir(), '.config'), 'execwire');
}

/** The file of a folder that lists environments. */
export function environmentsPath(home: string): string {
  return join(home, FILE_NAME);
}

/** False only where there is none: one that cannot be looked at is an error, or this machine would take its place. */
export function isFileThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether anything is configured at all. Reading what is takes a parser and schemas; looking does not. */
export function isConfigured(variables: NodeJS.ProcessEnv = process.env): boolean {
  return (
    isFileThere(environmentsPath(configurationHome(variables))) ||
    URL_VARIABLES.some((name) => variables[name]?.trim())
  );
}
