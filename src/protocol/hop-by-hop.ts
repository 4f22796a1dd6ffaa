/** Headers for the next hop only (RFC 9110, 7.6.1), or for proxies. */
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

/**
 * Tells which headers of a message, in lower case, a proxy must not pass on: the usual ones, and those that its `connection`
 * headers name.
 */
export function hopByHop(connection: readonly string[]): (name: string) => boolean {
  const named = new Set(
    connection.flatMap((value) => value.split(',')).map((each) => each.trim().toLowerCase()),
  );
  return (name) => HOP_BY_HOP.has(name) || named.has(name);
}
