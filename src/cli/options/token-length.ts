import { ExecError } from '../../protocol/index.js';

/** Shorter ones can be guessed. What a digest was made of is not ours to know. */
const MIN_TOKEN_CHARS = 16;

/** `option` names where the token comes from. */
export function refuseShortToken(token: string, option: string): void {
  if (token.length >= MIN_TOKEN_CHARS) return;
  throw new ExecError(
    'invalidConfiguration',
    `The token of ${option} must have at least ${MIN_TOKEN_CHARS} characters. Make one with: openssl rand -hex 32`,
  );
}
