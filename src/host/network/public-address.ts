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

/**
 * The same of version 6, and the tunnels (Teredo, 6to4, local NAT64): an address of version 4 hides in them, and where
 * they end is up to the network.
 */
const PRIVATE_V6 = [
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** In front of an address of version 4, as the kernel (`::ffff:`) and translating networks (`64:ff9b::`) read it. */
const EMBEDDING = ['00000000000000000000ffff', '0064ff9b0000000000000000'];

const privateAddresses = blockList();

/** True if the address is one that any machine of the internet would reach. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateAddresses.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  const embedded = embeddedAddress(address);
  return embedded === null ? !privateAddresses.check(address, 'ipv6') : isPublicAddress(embedded);
}

function embeddedAddress(address: string): string | null {
  const key = addressKey(address);
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
