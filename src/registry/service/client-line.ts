import type { Line } from '../relay/line.js';
import type { RelayFrame } from '../relay/relay-frame.js';
import type { MachineLine } from './machine-line.js';
import type { Grant } from './tickets.js';

/** How long the machine may take to ask about a client. */
const INTRODUCTION_MS = 30_000;
/** Bytes in transit to one side beyond which the other one has to wait. */
const MAX_IN_FLIGHT_BYTES = 1024 * 1024;
/** Close codes (RFC 6455). */
const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;

export interface ClientLineOptions {
  readonly grant: Grant;
  readonly machine: MachineLine;
  readonly closed: () => void;
}

/** The connection of a client: one stream to one machine. */
export class ClientLine {
  readonly grant: Grant;
  /** Chosen by the client with its first frame. */
  streamId: string | undefined;
  readonly #line: Line;
  readonly #machine: MachineLine;
  readonly #introduction: NodeJS.Timeout;
  #toMachine = 0;
  #toClient = 0;
  #isPaused = false;
  /** The stream has ended, so neither side needs notice. */
  #isOver = false;

  private constructor(line: Line, { grant, machine, closed }: ClientLineOptions) {
    this.grant = grant;
    this.#line = line;
    this.#machine = machine;
    this.#introduction = setTimeout(() => this.close('no handshake in time'), INTRODUCTION_MS).unref();
    line.open({
      frame: (frame, bytes) => this.#fromClient(frame, bytes),
      closed: () => {
        this.#end({ tell: true });
        closed();
      },
    });
  }

  /** Connects a client to a machine until either of them is gone. */
  static join(line: Line, options: ClientLineOptions): void {
    options.machine.join(new ClientLine(line, options));
  }

  /** Call when the machine has asked about the client and was told that it may use it. */
  introduced(): void {
    clearTimeout(this.#introduction);
  }

  /** Forwards a frame from the machine. After the last one, the client is disconnected. */
  deliver(bytes: Uint8Array, { isLast }: { isLast: boolean }): void {
    if (this.#isOver) return;
    this.#toClient += bytes.length;
    if (this.#toClient > MAX_IN_FLIGHT_BYTES) this.#machine.hold(this);
    this.#line.send(bytes, () => {
      this.#toClient -= bytes.length;
      if (this.#toClient <= MAX_IN_FLIGHT_BYTES / 2) this.#machine.release(this);
    });
    if (!isLast) return;
    this.#end({ tell: false });
    this.#line.close('the machine has ended the stream', GOING_AWAY);
  }

  close(reason: string, code = GOING_AWAY): void {
    this.#end({ tell: true });
    this.#line.close(reason, code);
  }

  #fromClient({ streamId, body }: RelayFrame, bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.streamId === undefined) {
      if (!this.#machine.claim(streamId, this)) return this.close('the stream is taken', PROTOCOL_ERROR);
      this.streamId = streamId;
    }
    if (this.streamId !== streamId) return this.close('the stream belongs to another client', PROTOCOL_ERROR);
    this.#forward(bytes);
    if (body.kind !== 'reset') return;
    this.#end({ tell: false });
    this.#line.close('the client has ended the stream', GOING_AWAY);
  }

  #forward(bytes: Uint8Array): void {
    this.#toMachine += bytes.length;
    if (!this.#isPaused && this.#toMachine > MAX_IN_FLIGHT_BYTES) {
      this.#isPaused = true;
      this.#line.pause();
    }
    this.#machine.forward(bytes, () => {
      this.#toMachine -= bytes.length;
      if (!this.#isPaused || this.#toMachine > MAX_IN_FLIGHT_BYTES / 2) return;
      this.#isPaused = false;
      this.#line.resume();
    });
  }

  #end({ tell }: { tell: boolean }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#introduction);
    this.#machine.leave(this, { tell });
  }
}
