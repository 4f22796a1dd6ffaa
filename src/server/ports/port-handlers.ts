import { connectPort, findTarget, listListeners, visiblePorts } from '../../host/index.js';
import type { ConnectionContext, Handlers } from '../handlers/connection-context.js';
import type { ProcessContext } from '../handlers/process-context.js';
import { PortWatches } from './port-watches.js';
import { treeOwners } from './tree-owners.js';

type PortMethods = 'port/list' | 'port/watch' | 'port/unwatch' | 'port/connect' | 'port/resume';

/** The port methods of one connection. */
export function portHandlers(processes: ProcessContext, context: ConnectionContext): Handlers<PortMethods> {
  const ownerOf = treeOwners(processes);
  const watches = new PortWatches(ownerOf, context);
  return {
    'port/list': async (params) => {
      const scope = params?.scope ?? undefined;
      return { ports: visiblePorts(await listListeners(), ownerOf, { scope }) };
    },
    'port/watch': async ({ watchId, scope }) => ({
      ports: await watches.open(watchId, { scope: scope ?? undefined }),
    }),
    'port/unwatch': async ({ watchId }) => {
      watches.end(watchId);
      return {};
    },
    'port/connect': ({ streamId, port, processId, ownOnly }) =>
      processes.session().streams.open(streamId, async (reader) => {
        const request = { port, processId: processId ?? undefined, ownOnly: ownOnly ?? undefined };
        const target = findTarget(await listListeners(), ownerOf, request);
        const { address, network } = target;
        const result = { address, processId: target.processId, sandboxed: network !== null };
        return { socket: await connectPort(target, reader), result };
      }),
    'port/resume': async ({ streams }) => ({ streams: processes.session().streams.resume(streams) }),
  };
}
