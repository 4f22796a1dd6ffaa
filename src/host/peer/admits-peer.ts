import { wasNetworkGranted } from '../sandbox/index.js';
import { hasLeft } from './has-left.js';
import { hasConfinedNeighbours } from './neighbours.js';
import { holdersOf } from './socket-holders.js';
import { type ConnectionEnds, findPeerSocket } from './socket-table.js';
import { isLocal } from './this-machine.js';

/**
 * Decides whether a connection may be served or may come from a sandbox: one of our own, or of another server of ours on
 * this machine. With network access, programs inside reach every port of this machine, and serving them would undo their
 * policy. A peer that presented a token is refused only if it certainly comes from a sandbox; any other is refused unless
 * it certainly does not, since a process that connected and exited, or passed its descriptor on, cannot be examined.
 */
export function admitsPeer(ends: ConnectionEnds, { authenticated }: { authenticated: boolean }): boolean {
  if (process.platform !== 'linux') return true;
  if (!wasNetworkGranted() && !hasConfinedNeighbours()) return !hasLeft(ends);
  const peer = findPeerSocket(ends);
  if (peer === null) return !isLocal(ends);
  // Nobody inside can become another user.
  if (peer.uid !== process.geteuid?.() && peer.inode !== 0) return true;
  if (peer.inode === 0) return false;
  const { inOurNamespaces, inOtherNamespaces } = holdersOf(peer.inode);
  return !inOtherNamespaces && (inOurNamespaces || authenticated);
}
