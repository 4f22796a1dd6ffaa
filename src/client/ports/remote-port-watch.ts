import { PortChanges, type PortsOptions, type PortWatch } from '../../contract/index.js';
import { execServerNotifications } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';

let lastWatch = 0;

/** A watch on another machine. After a lost connection it is set up again and tells what has changed meanwhile. */
export async function watchRemotePorts(client: ExecClient, { scope }: PortsOptions): Promise<PortWatch> {
  lastWatch += 1;
  const watchId = `p${lastWatch}`;
  const changes: PortChanges = new PortChanges(async () => {
    stopListening();
    if (client.usable) await client.call('port/unwatch', { watchId }).catch(() => undefined);
  });
  const set = async (): Promise<void> => {
    const { ports } = await client.call('port/watch', scope === undefined ? { watchId } : { watchId, scope });
    changes.set(ports);
  };
  const stopListening = client.listen({
    notified: (method, params) => {
      if (method !== 'port/opened' && method !== 'port/closed') return;
      const outcome = execServerNotifications[method].params.safeParse(params);
      if (!outcome.success || outcome.data.watchId !== watchId) return;
      const { watchId: _, ...port } = outcome.data;
      if (method === 'port/opened') changes.opened(port);
      else changes.closed(port);
    },
    online: () => void set().catch((error: Error) => changes.fail(error)),
    ended: () => void changes.close(),
  });
  try {
    await set();
    return changes;
  } catch (error) {
    stopListening();
    throw error;
  }
}
