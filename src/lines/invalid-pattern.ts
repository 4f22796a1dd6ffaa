import { ExecError } from '../protocol/errors.js';

export function invalidPattern(why: string): ExecError {
  return new ExecError('invalidParams', `The pattern cannot be used: ${why}.`);
}
