import type { WebSocket } from 'ws';
import type { Duplex } from 'node:stream';
import type { InflateRaw } from 'node:zlib';

/** The end of a deflated message, which is not sent (RFC 7692). */
const TRAILER = Buffer.from([0, 0, 0xff, 0xff]);
/** Close codes (RFC 6455). */
const INVALID_DATA = 1007;
const TOO_LARGE = 1009;

export interface InflateOptions {
  /** Node's own, which browsers must not come across. */
  readonly createInflateRaw: () => InflateRaw;
  /** The stream under the WebSocket. Once it is destroyed, nothing more is inflated. */
  readonly stream: Duplex;
  /** Longest message, inflated. */
  readonly maxBytes: number;
  /** Called as an unfinished message grows. */
  readonly grown?: ((bytes: number) => void) | undefined;
}

type Done = (error: Error | null, bytes?: Buffer) => void;

/** The part of a `ws` socket that is not public. Its version is pinned, and a test inflates too much. */
interface Internals {
  readonly _receiver: {
    readonly _extensions: {
      readonly 'permessage-deflate'?: {
        readonly params: { readonly server_no_context_takeover?: boolean };
        decompress: (data: Buffer, isLast: boolean, done: Done) => void;
        cleanup: () => void;
      };
    };
    createError(
      type: ErrorConstructor,
      message: string,
      prefix: boolean,
      status: number,
      code: string,
    ): Error;
  };
}

/**
 * Inflates what arrives on this socket, if compression was agreed on. The `ws` package would inflate the rest of a
 * message that is already too long, gigabytes of it, and take no other connection's turn until then.
 */
export function inflateWithin(socket: WebSocket, options: InflateOptions): void {
  const { _receiver: receiver } = socket as unknown as Internals;
  const extension = receiver._extensions['permessage-deflate'];
  if (!extension) return;
  const inflater = new MessageInflater(options, {
    // On a server this is what the extension was accepted with.
    keepsWindow: !extension.params.server_no_context_takeover,
    tooLong: () =>
      receiver.createError(
        RangeError,
        'Max payload size exceeded',
        false,
        TOO_LARGE,
        'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
      ),
    invalid: () =>
      receiver.createError(
        Error,
        'a message cannot be inflated',
        false,
        INVALID_DATA,
        'WS_ERR_INVALID_DEFLATE',
      ),
  });
  extension.decompress = (data, isLast, done) => inflater.add(data, isLast, done);
  extension.cleanup = () => inflater.close();
}

interface Manner {
  /** Whether messages refer to previous ones. */
  readonly keepsWindow: boolean;
  readonly tooLong: () => Error;
  readonly invalid: () => Error;
}

/** Inflates the messages of one connection, one fragment at a time, and stops at the first byte too many. */
class MessageInflater {
  readonly #options: InflateOptions;
  readonly #manner: Manner;
  #stream: InflateRaw | undefined;
  /** Of the current fragment. */
  #parts: Buffer[] = [];
  /** Of the current message. */
  #bytes = 0;
  #done: Done | undefined;

  constructor(options: InflateOptions, manner: Manner) {
    this.#options = options;
    this.#manner = manner;
  }

  add(data: Buffer, isLast: boolean, done: Done): void {
    this.#done = done;
    const stream = (this.#stream ??= this.#open());
    stream.write(data);
    if (isLast) stream.write(TRAILER);
    stream.flush(() => this.#inflated(stream, isLast));
  }

  close(): void {
    this.#stream?.destroy();
    this.#stream = undefined;
  }

  #open(): InflateRaw {
    const stream = this.#options.createInflateRaw();
    stream.on('data', (part: Buffer) => this.#grow(stream, part));
    stream.on('error', () => this.#fail(stream, this.#manner.invalid()));
    return stream;
  }

  #grow(stream: InflateRaw, part: Buffer): void {
    if (stream !== this.#stream) return;
    this.#bytes += part.length;
    if (this.#options.stream.destroyed || this.#bytes > this.#options.maxBytes)
      return this.#fail(stream, this.#manner.tooLong());
    this.#parts.push(part);
    this.#options.grown?.(part.length);
  }

  #inflated(stream: InflateRaw, isLast: boolean): void {
    if (stream !== this.#stream) return;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    if (isLast) this.#bytes = 0;
    // Without a window to keep, a connection that says nothing holds nothing.
    if (stream.readableEnded || (isLast && !this.#manner.keepsWindow)) this.close();
    this.#settle(null, bytes);
  }

  #fail(stream: InflateRaw, error: Error): void {
    if (stream !== this.#stream) return;
    this.close();
    this.#parts = [];
    this.#settle(error);
  }

  #settle(error: Error | null, bytes?: Buffer): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(error, bytes);
  }
}
