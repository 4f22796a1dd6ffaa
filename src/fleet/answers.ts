import { type ErrorCode, errorCatalogue, ExecError } from '../protocol/errors.js';
import { OpenAnswer } from './open-protocol.js';

/** What a machine has granted. Throws its refusal. */
export function granted(message: { json(): unknown }): { epoch: string; credit: number } {
  const answer = OpenAnswer.parse(message.json());
  if (!('error' in answer)) return answer;
  const code = Object.hasOwn(errorCatalogue, answer.error.code)
    ? (answer.error.code as ErrorCode)
    : 'remoteError';
  throw new ExecError(code, answer.error.message);
}

/** Whether asking again may help: no answer yet, or the NATS node was lost meanwhile. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError') return true;
  return error.name === 'RequestError' && !isNobody(error);
}

/** The library wraps what happened. */
export function isNobody(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  return error.name === 'NoResponders' || (cause instanceof Error && cause.name === 'NoResponders');
}

/** Says in one sentence why a machine could not be asked. */
export function explained(error: unknown, machine: string): unknown {
  if (!(error instanceof Error) || error instanceof ExecError) return error;
  if (/permission/i.test(error.message)) return noAccess(machine);
  return new ExecError('notConnected', `Cannot reach "${machine}" in the fleet.`, {
    data: { machine },
    cause: error,
  });
}

export function noAccess(machine: string): ExecError {
  return new ExecError('notConnected', `The credentials in use do not give access to "${machine}".`, {
    data: { machine },
  });
}

export function noAnswer(machine: string, timeoutMs: number): ExecError {
  return new ExecError('notConnected', `"${machine}" in the fleet did not answer within ${timeoutMs} ms.`, {
    data: { machine },
  });
}

/** The content of a message, undefined if it is not JSON. */
export function jsonOf(message: { json(): unknown }): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
