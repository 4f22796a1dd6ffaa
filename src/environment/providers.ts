import { ExecError } from '../protocol/errors.js';
import type { EnvironmentsConfig } from './configuration.js';
import { isServerUrl, LOCAL_ID, NONE_ID, REMOTE_ID, SERVER_URLS } from './environment-names.js';
import { configurationHome, URL_VARIABLES } from './configuration-home.js';
import { readEnvironmentsFile } from './environments-file.js';

/**
 * Determines the configured environments: from the file if it exists, else from the variable, else this machine. The
 * source also determines the default; this machine never replaces one that fails.
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
      throw new ExecError('invalidConfiguration', `${name} must begin with ${SERVER_URLS}.`);
    }
    return { environments: [{ id: REMOTE_ID, url }], includeLocal: false, defaultId: REMOTE_ID };
  }
  return undefined;
}
