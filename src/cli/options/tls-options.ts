import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';

export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export function withTls(command: Command): Command {
  return command
    .option('--tls-cert <file>', 'certificate chain (PEM); encrypts what is served')
    .option('--tls-key <file>', 'private key (PEM) for --tls-cert');
}

/** Undefined if nothing is to be encrypted. */
export function tlsFromFlags({ tlsCert, tlsKey }: TlsFlags): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ExecError('invalidConfiguration', '--tls-cert and --tls-key must be used together.');
  }
  try {
    return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) };
  } catch (cause) {
    const message = 'Cannot read the files given with --tls-cert and --tls-key.';
    throw new ExecError('invalidConfiguration', message, { cause });
  }
}
