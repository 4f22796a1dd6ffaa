import { ExecError } from '../../protocol/index.js';

/** Shorter tokens can be guessed. For a digest we cannot check. */
const MIN_TOKEN_CHARS = 16;

/** `option` is the flag the token came from. */
export function refuseShortToken(token: string, option: string): void {
  if (token.length >= MIN_TOKEN_CHARS) return;
  throw new ExecError(
    'invalidConfiguration',
    `The token in ${option} must have at least ${MIN_TOKEN_CHARS} characters. Create one with: execwire token new FILE`,
  );
}
