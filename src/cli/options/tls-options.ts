import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import { whyUnreadable } from '../../protocol/file-failure.js';

export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export function withTls(command: Command): Command {
  return command
    .optionsGroup('TLS:')
    .option('--tls-cert <file>', 'certificate chain (PEM); turns on TLS')
    .option('--tls-key <file>', 'with --tls-cert: its private key (PEM)')
    .optionsGroup('');
}

/** Undefined if nothing is to be encrypted. */
export function tlsFromFlags({ tlsCert, tlsKey }: TlsFlags): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ExecError('invalidConfiguration', '--tls-cert and --tls-key must be used together.');
  }
  const tls = { cert: readPem(tlsCert), key: readPem(tlsKey) };
  try {
    // Found out now rather than by the first client, or after another server has left in favour of this one.
    createSecureContext(tls);
    return tls;
  } catch (cause) {
    const message = `${tlsCert} is not a certificate, or ${tlsKey} not its private key. Both must be in PEM format.`;
    throw new ExecError('invalidConfiguration', message, { cause });
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ExecError('invalidConfiguration', `Cannot read ${path}: ${whyUnreadable(cause)}.`, { cause });
  }
}
