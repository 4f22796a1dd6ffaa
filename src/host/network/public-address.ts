import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { addressKey } from '../kernel/index.js';

/** Addresses of this machine, its neighbours and its provider, and those that lead to nobody. */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** All public addresses of version 6 begin like this (RFC 4291, 2.5.4). What else there is, networks use among themselves. */
const GLOBAL_UNICAST = /^[23]/;

/**
 * What is not public of them: examples, and tunnels (Teredo, 6to4). An address of version 4 hides in those, and where they
 * end is up to the network.
 */
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** In front of an address of version 4, as the kernel (`::ffff:`) and translating networks (`64:ff9b::`) read it. */
const EMBEDDING = ['00000000000000000000ffff', '0064ff9b0000000000000000'];

const privateAddresses = blockList();

/** True if the address is one that any machine of the internet would reach. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateAddresses.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  const embedded = embeddedAddress(address);
  if (embedded !== null) return isPublicAddress(embedded);
  return GLOBAL_UNICAST.test(addressKey(address)) && !privateAddresses.check(address, 'ipv6');
}

/** The address of version 4 that one of version 6 leads to; null if it leads to none. */
export function embeddedAddress(host: string): string | null {
  const key = isIPv6(host) ? addressKey(host) : '';
  if (!EMBEDDING.includes(key.slice(0, 24))) return null;
  return (key.slice(24).match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16)).join('.');
}

function blockList(): BlockList {
  const list = new BlockList();
  for (const [family, ranges] of [
    ['ipv4', PRIVATE_V4],
    ['ipv6', PRIVATE_V6],
  ] as const) {
    for (const range of ranges) {
      const [network = '', prefix] = range.split('/');
      list.addSubnet(network, Number(prefix), family);
    }
  }
  return list;
}
