/** The descriptor of a socket or a server, for which Node has no public name; null if it has none. */
export function socketDescriptor(owner: object): number | null {
  const fd = Reflect.get(Object(Reflect.get(owner, '_handle')), 'fd') as unknown;
  return typeof fd === 'number' && fd >= 0 ? fd : null;
}
