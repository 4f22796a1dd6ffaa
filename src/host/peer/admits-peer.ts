import { networkInterfaces } from 'node:os';
import { wasNetworkGranted } from '../sandbox/index.js';
import { addressKey } from './ip-bytes.js';
import { holdersOf } from './socket-holders.js';
import { type ConnectionEnds, findPeerSocket } from './socket-table.js';

/**
 * Whether a connection may be served, or may come out of a sandbox of ours: with network, programs inside reach every port of
 * this machine, and a server that serves them undoes their policy. Who proved to know a token is refused only if it is
 * certain; others are refused unless the opposite is: who connected and left, or sent its descriptor away, cannot be asked.
 */
export function admitsPeer(ends: ConnectionEnds, { authenticated }: { authenticated: boolean }): boolean {
  if (!wasNetworkGranted()) return true;
  const peer = findPeerSocket(ends);
  if (peer === null) return !isOfThisMachine(ends);
  // Nobody inside can become another user.
  if (peer.uid !== process.geteuid?.() && peer.inode !== 0) return true;
  if (peer.inode === 0) return false;
  const { beside, apart } = holdersOf(peer.inode);
  return !apart && (beside || authenticated);
}

function isOfThisMachine({ localAddress = '', remoteAddress = '' }: ConnectionEnds): boolean {
  const peer = addressKey(remoteAddress);
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const isLoopback = peer.startsWith(LOOPBACK_V4);
  return isLoopback || [localAddress, ...own.map(({ address }) => address)].map(addressKey).includes(peer);
}

/** 127.0.0.0/8, all of which is ours. */
const LOOPBACK_V4 = `${'0'.repeat(20)}ffff7f`;
