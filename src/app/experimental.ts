import { appMethods, ExecError, type MethodTable } from '../protocol/index.js';

const methods: MethodTable = appMethods;

/** Refuses what only clients that announced `experimentalApi` may use. */
export function assertExperimental(method: string, params: unknown): void {
  const experimental = methods[method]?.experimental ?? false;
  if (experimental === true) throw required(method);
  if (experimental === false || typeof params !== 'object' || params === null) return;
  const used = experimental.find((member) => (Reflect.get(params, member) ?? null) !== null);
  if (used !== undefined) throw required(`${method}.${used}`);
}

function required(what: string): ExecError {
  return new ExecError('experimentalApiRequired', `${what} requires experimentalApi capability`);
}
