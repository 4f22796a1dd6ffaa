import { wasNetworkGranted } from '../sandbox/index.js';
import { addressKey } from '../kernel/index.js';
import { holdersOf } from './socket-holders.js';
import { type ConnectionEnds, findPeerSocket } from './socket-table.js';
import { isOfThisMachine } from './this-machine.js';

/**
 * Decides whether a connection may be served or may come from one of our sandboxes. With network access, programs
 * inside reach every port of this machine, and serving them would undo their policy. A peer that presented a token is
 * refused only if it certainly comes from a sandbox; any other is refused unless it certainly does not, since a process
 * that connected and exited, or passed its descriptor on, cannot be examined.
 */
export function admitsPeer(ends: ConnectionEnds, { authenticated }: { authenticated: boolean }): boolean {
  if (!wasNetworkGranted()) return true;
  const peer = findPeerSocket(ends);
  if (peer === null) return !isLocal(ends);
  // Nobody inside can become another user.
  if (peer.uid !== process.geteuid?.() && peer.inode !== 0) return true;
  if (peer.inode === 0) return false;
  const { inOurNamespaces, inOtherNamespaces } = holdersOf(peer.inode);
  return !inOtherNamespaces && (inOurNamespaces || authenticated);
}

function isLocal({ localAddress = '', remoteAddress = '' }: ConnectionEnds): boolean {
  return isOfThisMachine(remoteAddress) || addressKey(localAddress) === addressKey(remoteAddress);
}
