import { execFile } from 'node:child_process';
import { ExecError } from '../protocol/errors.js';
import type { UrlEnvironment } from './configuration.js';
import { readTextFile } from './text-file.js';

/** A password manager may have to be unlocked first. */
const COMMAND_TIMEOUT_MS = 60_000;
const MAX_TOKEN_BYTES = 64 * 1024;

/** The token of an environment. Asked for with each connection, so that a token can be replaced while clients use it. */
export async function bearerTokenOf(
  config: UrlEnvironment,
  onLog: (line: string) => void = () => undefined,
): Promise<string | undefined> {
  const { tokenFile, tokenCommand } = config;
  if (tokenFile !== undefined) return readTokenFile(tokenFile);
  if (tokenCommand === undefined) return config.authBearerToken;
  return await askProgram(tokenCommand, { id: config.id, onLog });
}

/** Reads a file that holds nothing but a token. */
function readTokenFile(path: string): string {
  const token = readTextFile(path).trim();
  if (token === '') throw new ExecError('invalidConfiguration', `The token file ${path} is empty.`);
  return token;
}

/** Takes a token from the stdout of a program. Its stderr is for people; neither its arguments nor its output are repeated. */
function askProgram(
  [program = '', ...args]: readonly string[],
  { id, onLog }: { id: string; onLog: (line: string) => void },
): Promise<string> {
  const failed = (why: string, cause?: Error): ExecError =>
    new ExecError('invalidConfiguration', `The token_command of environment "${id}" ${why}.`, { cause });
  return new Promise((resolve, reject) => {
    const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: MAX_TOKEN_BYTES };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      for (const line of stderr.split('\n')) if (line.trim() !== '') onLog(line);
      if (error) reject(failed(whyFailed(error)));
      else if (stdout.trim() === '') reject(failed('printed no token'));
      else resolve(stdout.trim());
    });
    child.stdin?.end();
  });
}

function whyFailed({ code, killed }: { code?: number | string | null; killed?: boolean }): string {
  if (killed) return `did not end within ${COMMAND_TIMEOUT_MS / 1000} s`;
  if (code === 'ENOENT') return 'names a program that does not exist';
  return typeof code === 'number' ? `failed with exit status ${code}` : `failed (${code ?? 'killed'})`;
}
