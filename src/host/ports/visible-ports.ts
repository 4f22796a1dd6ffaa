import type { ListeningPort, PortsOptions } from '../../contract/index.js';
import type { Listener } from './listeners.js';

/** The most ports reported at a time, lowest first. */
const MAX_PORTS = 1_024;

/** The owner of a process tree. */
export interface TreeOwner {
  readonly processId: string | null;
  /** Set if it belongs to another session. */
  readonly sessionId?: string | undefined;
}

/** The ports that a client may see, given the trees it knows the owners of. It sees no other listeners in sandboxes. */
export function visiblePorts(
  listeners: readonly Listener[],
  ownerOf: (treeId: number) => TreeOwner | undefined,
  { scope = 'own' }: PortsOptions = {},
): ListeningPort[] {
  const rows = listeners.flatMap(({ port, address, pid, treeId, network }) => {
    const owner = treeId === null ? undefined : ownerOf(treeId);
    const isHidden = owner === undefined && network !== null;
    const isOwn = owner !== undefined && owner.sessionId === undefined;
    if (isHidden || (!isOwn && scope === 'own')) return [];
    const place = { port, address, sandboxed: network !== null };
    return [owner ? { ...place, pid, ...owner } : { ...place, pid: null, processId: null }];
  });
  return rows.toSorted((a, b) => a.port - b.port).slice(0, MAX_PORTS);
}
