import type { Server, Socket } from 'node:net';

/** The descriptor of a socket; null if it is unknown, or is not the whole connection, as under TLS. */
export function descriptorOf(owner: Server | Socket): number | null {
  const fd = Reflect.get(Object(handleOf(owner)), 'fd') as unknown;
  return typeof fd === 'number' && fd >= 0 ? fd : null;
}

/** From here on nothing is read from the socket, even if there are listeners. */
export function stopReading(socket: Socket): void {
  const handle = handleOf(socket);
  const stop = Reflect.get(Object(handle), 'readStop') as unknown;
  if (typeof stop === 'function') stop.call(handle);
}

export function handleOf(owner: Server | Socket): unknown {
  return Reflect.get(owner, '_handle');
}
