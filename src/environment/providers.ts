import { ExecError } from '../protocol/index.js';
import { type EnvironmentsConfig, isServerUrl, LOCAL_ID, NONE_ID } from './configuration.js';
import { configurationHome, readEnvironmentsFile } from './environments-file.js';

/** Variables that name one server, ours first. */
const URL_VARIABLES = ['EXECWIRE_SERVER_URL', 'CODEX_EXEC_SERVER_URL'] as const;

/** The id of the environment a variable names. */
export const REMOTE_ID = 'remote';

/**
 * Finds out which environments there are: the file if it exists, else the variable, else this machine.
 * Whoever provides them also decides the default; this machine is never put in place of one that fails.
 */
export function loadEnvironments(variables: NodeJS.ProcessEnv = process.env): EnvironmentsConfig {
  return (
    readEnvironmentsFile(configurationHome(variables)) ??
    fromVariables(variables) ?? { environments: [], includeLocal: true, defaultId: LOCAL_ID }
  );
}

function fromVariables(variables: NodeJS.ProcessEnv): EnvironmentsConfig | undefined {
  for (const name of URL_VARIABLES) {
    const url = variables[name]?.trim();
    if (!url) continue;
    if (url === NONE_ID) return { environments: [], includeLocal: false, defaultId: null };
    if (!isServerUrl(url)) {
      throw new ExecError('invalidConfiguration', `${name} must begin with ws://, wss:// or unix://.`);
    }
    return { environments: [{ id: REMOTE_ID, url }], includeLocal: false, defaultId: REMOTE_ID };
  }
  return undefined;
}
