import type { ListeningPort, PortsOptions } from '../../contract/index.js';
import type { Listener } from './listeners.js';

/** So many ports are told of at a time, the lowest first. */
const MAX_PORTS = 1_024;

/** Whose a process tree is. */
export interface TreeOwner {
  readonly processId: string | null;
  /** Set if it is of another session. */
  readonly sessionId?: string | undefined;
}

/** What somebody may know who knows the owners of some trees. To them, all other listeners in sandboxes do not exist. */
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
