import type { Command } from 'commander';
import { readTextFile } from '../../environment/text-file.js';
import { ExecError } from '../../protocol/errors.js';
import { type ListenAddress, parseListenAddress, sha256 } from '../../transport/index.js';
import { refuseShortToken } from './token-length.js';

export const DEFAULT_CONSOLE_URL = 'http://127.0.0.1:0';

export interface ConsoleTokenFlags {
  readonly consoleTokenFile?: string;
}

/** `condition`: how the help begins where the console is an option itself. */
export function addConsoleTokenOption(command: Command, condition = ''): Command {
  return command.option(
    '--console-token-file <file>',
    `${condition}file with a token to sign in to the console with; required unless the address is a loopback address`,
  );
}

/** Parses `http://IP:PORT` or `https://IP:PORT`. */
export function parseConsoleUrl(text: string): Extract<ListenAddress, { kind: 'tcp' }> {
  const address = /^https?:\/\//.test(text)
    ? parseListenAddress(text.replace(/^http/, 'ws').replace(/\/$/, ''))
    : null;
  if (address?.kind === 'tcp') return address;
  throw new ExecError(
    'invalidConfiguration',
    `Cannot serve the console on "${text}": use http://IP:PORT, or https://IP:PORT with a certificate.`,
  );
}

/** The digest of the token in the file, if one is given. */
export function consoleToken({ consoleTokenFile: file }: ConsoleTokenFlags): Uint8Array | undefined {
  if (file === undefined) return undefined;
  const token = readTextFile(file).trim();
  refuseShortToken(token, '--console-token-file');
  return sha256(token);
}
