import { ExecError } from '../protocol/index.js';

const EXPERIMENTAL_METHODS = /^(process|environment)\//;

/** Refuses what only clients may use that announced `experimentalApi`. */
export function assertExperimental(method: string, params: unknown): void {
  if (EXPERIMENTAL_METHODS.test(method)) throw required(method);
  const usesProfile =
    method === 'command/exec' &&
    typeof params === 'object' &&
    params !== null &&
    'permissionProfile' in params &&
    params.permissionProfile != null;
  if (usesProfile) throw required('command/exec.permissionProfile');
}

function required(what: string): ExecError {
  return new ExecError('experimentalApiRequired', `${what} requires experimentalApi capability`);
}
