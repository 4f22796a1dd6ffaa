import { encodeFrame, type RelayFrame } from '../relay/relay-frame.js';
import type { Line } from '../relay/line.js';
import { SharedReading } from '../relay/shared-reading.js';
import type { ClientLine } from './client-line.js';
import type { TokenBearer } from './registry-tokens.js';

/** The number of streams that Codex's executors serve. */
const MAX_CLIENTS = 128;
/** So that no token takes all the room. */
const MAX_CLIENTS_PER_TOKEN = 64;
const GOING_AWAY = 1001;

/** The connection of a machine. It carries the streams of all its clients. */
export class MachineLine {
  readonly #line: Line;
  /** Including those that are gone, until the machine has been told. */
  readonly #clients = new Set<ClientLine>();
  readonly #streams = new Map<string, ClientLine>();
  readonly #reading: SharedReading<ClientLine>;

  constructor(line: Line, closed: (self: MachineLine) => void) {
    this.#line = line;
    this.#reading = new SharedReading({
      pause: () => line.pause(),
      resume: () => line.resume(),
      streams: () => this.#clients.size,
      evict: (client) => client.close('the client reads too slowly for others to wait'),
    });
    line.open({
      frame: (frame, bytes) => this.#fromMachine(frame, bytes),
      closed: () => {
        this.#reading.close();
        closed(this);
        this.#closeClients();
      },
    });
  }

  hasRoomFor(bearer: TokenBearer): boolean {
    const own = [...this.#clients].filter(({ grant }) => grant.client === bearer);
    return this.#clients.size < MAX_CLIENTS && own.length < MAX_CLIENTS_PER_TOKEN;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  join(client: ClientLine): void {
    this.#clients.add(client);
  }

  /** Assigns a stream to a client. False if it is taken. */
  claim(streamId: string, client: ClientLine): boolean {
    if (this.#streams.has(streamId)) return false;
    this.#streams.set(streamId, client);
    return true;
  }

  /** Forwards a frame from a client. */
  forward(bytes: Uint8Array, flushed: () => void): void {
    this.#line.send(bytes, flushed);
  }

  /** Call when a client is gone. It counts until the machine has been told, which bounds the pending notices. */
  leave(client: ClientLine, { tell }: { tell: boolean }): void {
    this.#reading.forget(client);
    const { streamId } = client;
    const gone = (): void => {
      this.#clients.delete(client);
      if (streamId !== undefined && this.#streams.get(streamId) === client) this.#streams.delete(streamId);
    };
    if (streamId === undefined || !tell) return gone();
    this.#line.send(encodeFrame({ streamId, body: { kind: 'reset', reason: 'client_disconnected' } }), gone);
  }

  /** Pauses reading because a client cannot take more. */
  hold(client: ClientLine): void {
    this.#reading.hold(client);
  }

  release(client: ClientLine): void {
    this.#reading.release(client);
  }

  /** The client that presented this authorization. */
  clientWith(authorizationDigest: string): ClientLine | undefined {
    return [...this.#clients].find(({ grant }) => grant.authorizationDigest === authorizationDigest);
  }

  /** Disconnects clients that may no longer use this machine. */
  review(may: (client: TokenBearer) => boolean): void {
    for (const client of [...this.#clients])
      if (!may(client.grant.client)) client.close('the token is no longer valid');
  }

  close(reason: string): void {
    this.#line.close(reason, GOING_AWAY);
    this.#closeClients();
  }

  #closeClients(): void {
    for (const client of [...this.#clients]) client.close('the machine is gone');
  }

  #fromMachine({ streamId, body }: RelayFrame, bytes: Uint8Array): void {
    this.#streams.get(streamId)?.deliver(bytes, { isLast: body.kind === 'reset' });
  }
}
