import { execMethods, type MethodTable } from '../../protocol/index.js';

const methods: MethodTable = execMethods;

/** Whether a call may be sent again when its answer got lost with the connection. */
export function isRepeatable(method: string): boolean {
  return methods[method]?.idempotent === true;
}

/** Whether a call means something in the session it was made in only. */
export function isSessionBound(method: string): boolean {
  return methods[method]?.sessionBound === true;
}
