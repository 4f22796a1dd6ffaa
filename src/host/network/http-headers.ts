/** For the next hop only (RFC 9110, 7.6.1), or for proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers for the other side, names and order as they came, in Node's flat form. */
export function passedOn(raw: readonly string[], { keep = [] }: { keep?: readonly string[] } = {}): string[] {
  const pairs = pairsOf(raw);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((each) => each.trim().toLowerCase()));
  const isDropped = (name: string): boolean =>
    !keep.includes(name) && (HOP_BY_HOP.has(name) || named.includes(name));
  return pairs.filter(([name]) => !isDropped(name.toLowerCase())).flat();
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}
