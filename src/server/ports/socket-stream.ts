import type { Socket } from 'node:net';
import { ByteStream, type StreamUser, type UntakenRoom } from '../../rpc/index.js';

/** Joins a stream of a session to a socket. What the client sends before there is a socket waits. */
export class SocketStream implements StreamUser {
  readonly stream: ByteStream;
  readonly #forget: () => void;
  readonly #early: Uint8Array[] = [];
  #socket: Socket | undefined;
  #isEnded = false;
  #isOver = false;

  /** `room` is that of the session. `forget` is called when it is over. */
  constructor(room: UntakenRoom, forget: () => void) {
    this.stream = new ByteStream(this, room);
    this.#forget = forget;
  }

  /** `socket` gives what it reads to `stream`. */
  join(socket: Socket): void {
    if (this.#isOver) return void socket.destroy();
    this.#socket = socket;
    socket.on('end', () => this.stream.end());
    socket.on('error', (error: NodeJS.ErrnoException) => this.#broke(error.code ?? 'EIO'));
    socket.on('close', () => {
      if (!socket.readableEnded) this.#broke('ECONNRESET');
    });
    for (const bytes of this.#early.splice(0)) this.bytes(bytes);
    if (this.#isEnded) socket.end();
  }

  bytes(bytes: Uint8Array): void {
    const socket = this.#socket;
    if (socket) socket.write(bytes, () => this.stream.taken(bytes.length));
    else this.#early.push(bytes);
  }

  ended(): void {
    this.#isEnded = true;
    this.#socket?.end();
  }

  room(): void {
    this.#socket?.resume();
  }

  over(error?: Error): void {
    this.#isOver = true;
    this.#forget();
    // The program must see a reset, not an orderly end.
    if (error) this.#socket?.resetAndDestroy();
  }

  #broke(code: string): void {
    this.stream.destroy({ code: 'streamReset', message: `The program closed the connection (${code}).` });
  }
}
