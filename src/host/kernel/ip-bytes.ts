import { isIPv4 } from 'node:net';

/** How an IPv4 address begins in its IPv6-mapped form. */
export const V4_PREFIX = '00000000000000000000ffff';

/** An address as 32 hexadecimal digits, IPv4 in its IPv6-mapped form, so that each address has one spelling. */
export function addressKey(address: string): string {
  if (isIPv4(address)) return V4_PREFIX + v4Digits(address);
  const plain = address.split('%', 1)[0] ?? '';
  const tail = /:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  const text = tail === undefined ? plain : plain.slice(0, -tail.length) + v4Groups(tail);
  const [left = '', right] = text.split('::');
  const before = groupsOf(left);
  const after = groupsOf(right ?? '');
  const between = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(between).fill('0000'), ...after].join('');
}

/** The same for the kernel's tables, which hold the bytes of each 32-bit word in reverse. */
export function keyOfKernelAddress(hex: string): string {
  const words = hex.toLowerCase().match(/.{8}/g) ?? [];
  const key = words.map((word) => (word.match(/../g) ?? []).toReversed().join('')).join('');
  return key.length === 8 ? V4_PREFIX + key : key;
}

/** The usual spelling of an address given as 32 digits. */
export function addressText(key: string): string {
  if (key.startsWith(V4_PREFIX)) {
    const bytes = key.slice(V4_PREFIX.length).match(/../g) ?? [];
    return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  }
  const groups = (key.match(/.{4}/g) ?? []).map((group) => group.replace(/^0+(?=.)/, ''));
  // The parser of URLs shortens it as is customary.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.toLowerCase().padStart(4, '0'));
}

function v4Digits(address: string): string {
  return address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
}

function v4Groups(address: string): string {
  const digits = v4Digits(address);
  return `${digits.slice(0, 4)}:${digits.slice(4)}`;
}
