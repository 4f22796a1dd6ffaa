import { execMethods, type MethodTable } from '../../protocol/index.js';

const methods: MethodTable = execMethods;

/** Whether a call may be sent again if the connection was lost before its answer arrived. */
export function isRepeatable(method: string): boolean {
  return methods[method]?.idempotent === true;
}

/** Whether a call is only meaningful in the session it was made in. */
export function isSessionBound(method: string): boolean {
  return methods[method]?.sessionBound === true;
}
