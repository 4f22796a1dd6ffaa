import { ExecError } from '../../protocol/errors.js';

/**
 * Variables a client must never be able to send anywhere: this server's own secrets, and keys whose theft costs more
 * than the machine. Anything else in the environment was put there by the operator to be used.
 */
const DENIED = new Set([
  'ANTHROPIC_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AZURE_CLIENT_SECRET',
  'AZURE_OPENAI_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'CODEX_API_KEY',
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'NODE_REPL_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
]);
const OWN_PREFIX = 'EXECWIRE_';

/** The value of a variable that a header requests. Errors name the variable, never its value. */
export function headerSecret(header: string, variable: string): string {
  const upper = variable.toUpperCase();
  if (DENIED.has(upper) || upper.startsWith(OWN_PREFIX))
    throw refused(`http/request header ${header} cannot use executor environment variable ${variable}`);
  const value = process.env[variable];
  if (value === undefined)
    throw refused(`http/request header ${header} requires executor environment variable ${variable}`);
  if (value === '')
    throw refused(
      `http/request header ${header} requires a non-empty executor environment variable ${variable}`,
    );
  return value;
}

function refused(message: string): ExecError {
  return new ExecError('invalidParams', message);
}
