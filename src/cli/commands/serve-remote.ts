import type { Command } from 'commander';
import { readTextFile } from '../../environment/text-file.js';
import { ExecError } from '../../protocol/index.js';
import type { ExecServer, ServerLog } from '../../server/index.js';

export interface RemoteFlags {
  readonly remote?: string;
  readonly environmentId?: string;
  readonly remoteTokenFile?: string;
  readonly insecure?: boolean;
}

export function addRemoteOptions(command: Command): Command {
  return command
    .optionsGroup('Registry:')
    .option('--remote <url>', 'join a registry, as `codex exec-server --remote` does: http(s)://HOST')
    .option('--environment-id <id>', 'with --remote: the id of this machine there')
    .option('--remote-token-file <file>', 'with --remote: the token of this machine')
    .optionsGroup('');
}

/** This machine at a registry, or at none. */
export interface RemotePresence {
  readonly urls: readonly string[];
  readonly close: () => Promise<void>;
}

/** Joins the registry, if one is given. */
export async function serveRemote(
  flags: RemoteFlags,
  { server, log, lost }: { server: ExecServer; log: ServerLog; lost: (why: string) => void },
): Promise<RemotePresence> {
  const { remote, environmentId, remoteTokenFile } = flags;
  if (remote === undefined) return { urls: [], close: async () => undefined };
  if (environmentId === undefined || !/^[A-Za-z0-9_.:@-]{1,128}$/.test(environmentId))
    throw invalid('--remote needs --environment-id: up to 128 letters, digits, or one of _ . : @ -.');
  if (remoteTokenFile === undefined) throw invalid('--remote needs --remote-token-file.');
  const { RemoteMachine, requireRegistryUrl } = await import('../../registry/index.js');
  const url = requireRegistryUrl(remote, { insecure: flags.insecure === true });
  const machine = await RemoteMachine.join({
    url,
    environmentId,
    token: readToken(remoteTokenFile),
    accept: (channel, options) => server.accept(channel, options),
    log,
    // A machine that nobody can reach is of no use to its supervisor, which may start it again.
    onLost: (reason) => {
      process.exitCode = 1;
      lost(reason);
    },
  }).catch((error: unknown) => {
    throw new ExecError('notConnected', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  });
  const address = `${url.replace(/\/+$/, '')}/cloud/environment/${environmentId}`;
  return { urls: [address], close: () => machine.close() };
}

function readToken(path: string): string {
  const token = readTextFile(path).trim();
  if (token === '') throw invalid(`The token file ${path} is empty.`);
  return token;
}

function invalid(message: string): ExecError {
  return new ExecError('invalidConfiguration', message);
}
