import type { ExecClient } from './connection/exec-client.js';
import { unsupported } from './connection/remote-errors.js';

/** Leave to view one process, without its token. */
export interface ProcessShare {
  readonly shareId: string;
  readonly processId: string;
  readonly expiresInMs: number;
}

export async function shareProcess(
  client: ExecClient,
  processId: string,
  { forMs }: { forMs?: number },
): Promise<ProcessShare & { readonly token: string }> {
  await requireShares(client);
  return await client.call('process/share', forMs === undefined ? { processId } : { processId, forMs });
}

export async function listShares(client: ExecClient): Promise<ProcessShare[]> {
  await requireShares(client);
  return (await client.call('process/shares', null)).shares;
}

export async function revokeShare(client: ExecClient, shareId: string): Promise<boolean> {
  await requireShares(client);
  return (await client.call('process/unshare', { shareId })).revoked;
}

async function requireShares(client: ExecClient): Promise<void> {
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.shares) throw unsupported('shares');
}
