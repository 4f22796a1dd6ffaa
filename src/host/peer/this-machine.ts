import { networkInterfaces } from 'node:os';
import { addressKey } from '../kernel/index.js';
import type { ConnectionEnds } from './socket-table.js';

/** 127.0.0.0/8, which is all this machine. */
const LOOPBACK_V4 = `${'0'.repeat(20)}ffff7f`;

/** Connecting to "any address" leads here, too. */
const ANY: readonly string[] = [addressKey('::'), addressKey('0.0.0.0')];

/** True if the address is one of this machine. */
export function isOfThisMachine(address: string): boolean {
  const key = addressKey(address);
  if (key.startsWith(LOOPBACK_V4) || ANY.includes(key)) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((each) => addressKey(each.address) === key);
}

/** True if both ends of a connection are on this machine. */
export function isLocal({ localAddress = '', remoteAddress = '' }: ConnectionEnds): boolean {
  return isOfThisMachine(remoteAddress) || addressKey(localAddress) === addressKey(remoteAddress);
}
