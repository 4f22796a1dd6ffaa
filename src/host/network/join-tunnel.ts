import type { Duplex } from 'node:stream';
import { type Opening, readOpening } from './client-hello.js';
import { pass } from './join.js';

/** Fatal: the name is not one of this server (RFC 6066). A client then says what is wrong. */
const UNRECOGNIZED_NAME = Buffer.of(21, 3, 3, 0, 2, 2, 112);

export interface TunnelOptions {
  /** What the client has sent already. */
  readonly head?: Buffer;
  /** Whether the client may ask for this host in its TLS handshake; null: one that cannot be read. */
  readonly admitsName: (name: string | null) => boolean;
}

/**
 * Joins a client to the host it was admitted to. A server behind one address often serves many names, so a client that
 * begins with TLS must ask for the name it was admitted for. Nothing is sent until that is known.
 */
export function joinTunnel(client: Duplex, there: Duplex, { head, admitsName }: TunnelOptions): void {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let neededBytes = 0;
  pass(there, client);
  const goOn = (): void => {
    client.off('data', take).off('end', goOn);
    for (const chunk of held) there.write(chunk);
    pass(client, there);
  };
  const refuse = (): void => {
    client.off('data', take).off('end', goOn);
    there.destroy();
    client.end(UNRECOGNIZED_NAME);
  };
  const take = (chunk: Buffer): void => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < neededBytes) return;
    const opening = readOpening(Buffer.concat(held));
    if (opening.kind === 'more') neededBytes = opening.neededBytes;
    else if (isFine(opening, admitsName)) goOn();
    else refuse();
  };
  client.on('data', take).on('end', goOn);
  client.on('close', () => {
    if (!client.readableEnded) there.destroy();
  });
  if (head !== undefined && head.length > 0) take(head);
}

function isFine(opening: Opening, admitsName: TunnelOptions['admitsName']): boolean {
  if (opening.kind === 'other') return true;
  const name = opening.kind === 'hello' ? opening.name : null;
  return name === undefined || admitsName(name);
}
