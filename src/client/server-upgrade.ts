import { ExecError } from '../protocol/index.js';
import type { ExecClient } from './connection/exec-client.js';

/** A new server parses its options and reads the state of the old one, which gives up after half a minute. */
const UPGRADE_LIMIT_MS = 60_000;

/** The server that is running. */
export interface ServerStatus {
  readonly version: string;
  /** How many servers there have been, with this one. */
  readonly generation: number;
  /** Why the last upgrade failed after the old server had left. This server is of the version before. */
  readonly failedUpgrade?: string | undefined;
}

/** The server to put in the place of the running one. */
export interface UpgradeRequest {
  /** What follows `serve` on its command line. Default: the same as now. */
  readonly arguments?: string[];
  /** The absolute path of its program. Default: the same as now. */
  readonly program?: string;
  /** Only find out whether it would work. */
  readonly dryRun?: boolean;
}

export async function serverStatus(client: ExecClient): Promise<ServerStatus> {
  await requireUpgrade(client);
  return await client.call('server/status', null);
}

export async function upgradeServer(
  client: ExecClient,
  request: UpgradeRequest,
): Promise<{ generation: number }> {
  await requireUpgrade(client);
  return await client.call('server/upgrade', request, { timeoutMs: UPGRADE_LIMIT_MS });
}

async function requireUpgrade(client: ExecClient): Promise<void> {
  if (!client.introduced) await client.ready();
  if (client.serverCapabilities.upgrade) return;
  throw new ExecError(
    'upgradeUnavailable',
    'This server cannot be replaced while it runs. Start it with `execwire serve --durable DIR`.',
  );
}
