import { ExecError } from '../../protocol/errors.js';
import type { Listener } from './listeners.js';
import type { SandboxNetwork } from './sandbox-networks.js';
import type { TreeOwner } from './visible-ports.js';

/** The port that a client wants to reach. */
export interface PortRequest {
  readonly port: number;
  /** Only if this process listens there, or something it left behind. */
  readonly processId?: string | undefined;
  /** Only if one of the client's own processes listens there. */
  readonly ownOnly?: boolean | undefined;
}

/** The target of a connection. */
export interface PortTarget {
  readonly port: number;
  readonly address: string;
  /** Null: our own network. */
  readonly network: SandboxNetwork | null;
  readonly processId: string | null;
}

/**
 * Chooses among the listeners on a port: first the client's own processes, newest first; then the machine itself; then the
 * sandboxes of other clients. Throws `portRefused` if nobody listens.
 */
export function findTarget(
  listeners: readonly Listener[],
  ownerOf: (treeId: number) => TreeOwner | undefined,
  request: PortRequest,
): PortTarget {
  const { port, processId, ownOnly = false } = request;
  const found = listeners
    .filter((each) => each.port === port)
    .map((each) => ({ ...each, owner: each.treeId === null ? undefined : ownerOf(each.treeId) }))
    .filter(({ owner }) => processId === undefined || owner?.processId === processId)
    .map((each) => ({ ...each, rank: rankOf(each) }))
    .filter(({ rank }) => rank === OWN || (rank !== HIDDEN && !ownOnly))
    .toSorted((a, b) => a.rank - b.rank || (b.treeId ?? 0) - (a.treeId ?? 0));
  const [best] = found;
  if (!best)
    throw new ExecError('portRefused', `Nothing ${ownOnly ? 'of yours ' : ''}listens on port ${port}.`);
  const { address, network, owner } = best;
  return { port, address, network, processId: owner?.processId ?? null };
}

const [OWN, MACHINE, OTHERS, HIDDEN] = [0, 1, 2, 3];

function rankOf({
  owner,
  network,
}: {
  owner: TreeOwner | undefined;
  network: SandboxNetwork | null;
}): number {
  if (owner && owner.sessionId === undefined) return OWN;
  if (network === null) return MACHINE;
  return owner ? OTHERS : HIDDEN;
}
