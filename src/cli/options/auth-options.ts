import { readTextFile } from '../../environment/text-file.js';
import { ExecError } from '../../protocol/index.js';
import {
  isLoopback,
  type ListenAddress,
  MIN_SHARED_SECRET_BYTES,
  sha256,
  type WebSocketAuth,
} from '../../transport/index.js';
import { refuseShortToken } from './token-length.js';

/** The `--ws-…` flags, the same as in Codex, and `--token-file`, which sets two of them. */
export interface AuthFlags {
  readonly tokenFile?: string;
  readonly wsAuth?: string;
  readonly wsTokenFile?: string;
  readonly wsTokenSha256?: string;
  readonly wsSharedSecretFile?: string;
  readonly wsIssuer?: string;
  readonly wsAudience?: string;
  readonly wsMaxClockSkewSeconds?: number;
  readonly insecure?: boolean;
}

/** Turns flags into an authentication mode, if any. Throws for flags that cannot be combined. */
export function authFromFlags(flags: AuthFlags): WebSocketAuth | undefined {
  if (
    flags.tokenFile !== undefined &&
    (flags.wsAuth !== 'capability-token' || flags.wsTokenFile !== flags.tokenFile)
  )
    throw invalid('--token-file cannot be used with another --ws-auth or --ws-token-file.');
  switch (flags.wsAuth) {
    case undefined:
      refuse(flags, ['wsTokenFile', 'wsTokenSha256', ...SIGNED_FLAGS], 'needs --ws-auth');
      return undefined;
    case 'capability-token':
      refuse(flags, SIGNED_FLAGS, 'cannot be used with --ws-auth capability-token');
      return { mode: 'capability-token', tokenSha256: tokenDigest(flags) };
    default:
      refuse(flags, ['wsTokenFile', 'wsTokenSha256'], 'cannot be used with --ws-auth signed-bearer-token');
      return signedTokens(flags);
  }
}

const SIGNED_FLAGS = ['wsSharedSecretFile', 'wsIssuer', 'wsAudience', 'wsMaxClockSkewSeconds'] as const;

function tokenDigest(flags: AuthFlags): Uint8Array {
  const { wsTokenFile, wsTokenSha256 } = flags;
  if ((wsTokenFile === undefined) === (wsTokenSha256 === undefined)) {
    throw invalid('--ws-auth capability-token needs exactly one of --ws-token-file and --ws-token-sha256.');
  }
  if (wsTokenSha256 !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(wsTokenSha256))
      throw invalid('--ws-token-sha256 must be 64 hexadecimal digits.');
    return Buffer.from(wsTokenSha256, 'hex');
  }
  const token = readSecret(wsTokenFile ?? '');
  if (token === '') throw invalid(`The token file ${wsTokenFile} is empty.`);
  refuseShortToken(token, '--ws-token-file');
  return sha256(token);
}

/** Null if tokens cannot be read in transit, or if the user has accepted the risk. */
export function plainTokenWarning(
  address: ListenAddress,
  options: { encrypted: boolean; insecure: boolean | undefined; remedy: string },
): string | null {
  if (address.kind !== 'tcp' || isLoopback(address.host) || options.encrypted || options.insecure)
    return null;
  return `tokens cross the network in plain text: ${options.remedy}, or accept it with --insecure`;
}

function signedTokens(flags: AuthFlags): WebSocketAuth {
  const { wsSharedSecretFile, wsIssuer, wsAudience, wsMaxClockSkewSeconds } = flags;
  if (wsSharedSecretFile === undefined) {
    throw invalid('--ws-auth signed-bearer-token needs --ws-shared-secret-file.');
  }
  const sharedSecret = Buffer.from(readSecret(wsSharedSecretFile));
  if (sharedSecret.length < MIN_SHARED_SECRET_BYTES) {
    throw invalid(`The shared secret must have at least ${MIN_SHARED_SECRET_BYTES} bytes.`);
  }
  return {
    mode: 'signed-bearer-token',
    sharedSecret,
    ...(wsIssuer === undefined ? {} : { issuer: wsIssuer }),
    ...(wsAudience === undefined ? {} : { audience: wsAudience }),
    ...(wsMaxClockSkewSeconds === undefined ? {} : { maxClockSkewSeconds: wsMaxClockSkewSeconds }),
  };
}

function refuse(flags: AuthFlags, names: readonly (keyof AuthFlags)[], why: string): void {
  for (const name of names) {
    if (flags[name] === undefined) continue;
    throw invalid(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${why}.`);
  }
}

function readSecret(path: string): string {
  return readTextFile(path).trim();
}

function invalid(message: string): ExecError {
  return new ExecError('invalidConfiguration', message);
}
