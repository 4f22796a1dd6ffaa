import type { Socket } from 'node:net';
import { dial, type Dialled } from './dial.js';
import type { Gate } from './gate.js';
import { type Authority, canonicalHost, clientOf } from './host-name.js';
import { joinTunnel } from './join-tunnel.js';

/** The first byte of every message. */
export const SOCKS_VERSION = 5;

const NO_AUTHENTICATION = 0;
const NO_ACCEPTABLE_METHOD = 0xff;
const CONNECT = 1;

const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

const REPLY = {
  succeeded: 0,
  failed: 1,
  forbidden: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  refused: 5,
  unknownCommand: 7,
  unknownAddress: 8,
} as const;

const REPLY_FOR: Readonly<Record<string, number>> = {
  ECONNREFUSED: REPLY.refused,
  ENETUNREACH: REPLY.networkUnreachable,
  ENOTFOUND: REPLY.hostUnreachable,
  EHOSTUNREACH: REPLY.hostUnreachable,
  ETIMEDOUT: REPLY.hostUnreachable,
};

/** Serves one connection of a client that speaks SOCKS 5 (RFC 1928): names or addresses, TCP, no password. */
export async function serveSocks(socket: Socket, gate: Gate, signal: AbortSignal): Promise<void> {
  const bytes = new SocketBytes(socket);
  const [, count = 0] = await bytes.take(2);
  const methods = await bytes.take(count);
  if (!methods.includes(NO_AUTHENTICATION))
    return void socket.end(Buffer.of(SOCKS_VERSION, NO_ACCEPTABLE_METHOD));
  socket.write(Buffer.of(SOCKS_VERSION, NO_AUTHENTICATION));
  const [version, command, , kind = 0] = await bytes.take(4);
  if (version !== SOCKS_VERSION) return void socket.destroy();
  const target = await readTarget(bytes, kind);
  if (target === null) return answer(socket, REPLY.unknownAddress);
  if (command !== CONNECT) return answer(socket, REPLY.unknownCommand);
  bytes.stop();
  const asked = { ...target, protocol: 'socks5_tcp', ...clientOf(socket) } as const;
  const dialled = await dial(gate, asked, signal);
  answer(socket, replyFor(dialled));
  if (dialled.kind === 'connected')
    joinTunnel(socket, dialled.socket, { admitsName: (name) => gate.admitsName(asked, name) });
}

async function readTarget(bytes: SocketBytes, kind: number): Promise<Authority | null> {
  const host = await readHost(bytes, kind);
  if (host === null) return null;
  const port = (await bytes.take(2)).readUInt16BE();
  return port === 0 ? null : { host, port };
}

async function readHost(bytes: SocketBytes, kind: number): Promise<string | null> {
  switch (kind) {
    case IPV4:
      return [...(await bytes.take(4))].join('.');
    case IPV6:
      return canonicalHost(`[${((await bytes.take(16)).toString('hex').match(/.{4}/g) ?? []).join(':')}]`);
    case NAME: {
      const [length = 0] = await bytes.take(1);
      return canonicalHost((await bytes.take(length)).toString('latin1'));
    }
    default:
      return null;
  }
}

function replyFor(dialled: Dialled): number {
  if (dialled.kind === 'connected') return REPLY.succeeded;
  return dialled.kind === 'refused' ? REPLY.forbidden : (REPLY_FOR[dialled.code] ?? REPLY.failed);
}

/** The address we connected from is of no use to anybody inside. */
function answer(socket: Socket, reply: number): void {
  const message = Buffer.of(SOCKS_VERSION, reply, 0, IPV4, 0, 0, 0, 0, 0, 0);
  if (reply === REPLY.succeeded) socket.write(message);
  else socket.end(message);
}

/** Takes bytes from a socket one piece after the other. What is left stays in the socket. */
class SocketBytes {
  readonly #socket: Socket;
  #arrived: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('readable', this.#wake).on('end', this.#wake).on('close', this.#wake);
  }

  async take(length: number): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    for (;;) {
      const bytes = this.#socket.read(length) as Buffer | null;
      if (bytes?.length === length) return bytes;
      if (bytes !== null || this.#socket.readableEnded || this.#socket.destroyed) throw new Error('cut off');
      await new Promise<void>((resolve) => void (this.#arrived = resolve));
    }
  }

  stop(): void {
    this.#socket.off('readable', this.#wake).off('end', this.#wake).off('close', this.#wake);
  }

  readonly #wake = (): void => this.#arrived();
}
