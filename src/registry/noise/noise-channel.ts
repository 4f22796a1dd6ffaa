import {
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  messageText,
  type OutgoingMessage,
  PartCollector,
  type PartPlace,
} from '../../rpc/index.js';
import type { UnfinishedMessage } from '../../transport/unfinished-messages.js';
import { encodeFrame, type FrameBody } from '../relay/relay-frame.js';
import type { Ciphers } from './handshake.js';
import { MessageReader, recordsOf } from './records.js';
import { ReorderWindow } from './reorder-window.js';

/** Unread bytes beyond which reading pauses for the whole line. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Sequence numbers do not wrap around. */
const MAX_SEQ = 0xffff_ffff;

/** The reason given for a protocol violation, the same as Codex's. */
export const PROTOCOL_ERROR = 'noise_relay_protocol_error';

export interface NoiseChannelOptions {
  readonly label: string;
  readonly streamId: string;
  readonly ciphers: Ciphers;
  readonly post: (frame: Uint8Array, flushed?: () => void) => void;
  /** Called when too much is unread; `release` when that is over. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly ended: () => void;
  /** Told about the message that is being received. */
  readonly unfinished?: UnfinishedMessage | undefined;
}

/** A channel through a router that cannot read it, nor change anything unnoticed. */
export class NoiseChannel implements Channel {
  readonly label: string;
  readonly #options: NoiseChannelOptions;
  readonly #window = new ReorderWindow();
  readonly #reader = new MessageReader();
  readonly #parts = new PartCollector();
  #unread: string[] = [];
  #unreadBytes = 0;
  #seq = 0;
  #receiver: ChannelReceiver | undefined;
  #isPaused = true;
  #end: CloseReason | undefined;

  constructor(options: NoiseChannelOptions) {
    this.label = options.label;
    this.#options = options;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    // Delivery never starts from within `open`.
    setImmediate(() => {
      if (this.#end) receiver.closed(this.#end);
      else this.resume();
    });
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (this.#end) return;
    const bytes = Buffer.from(messageText(message));
    try {
      const records = [...recordsOf(bytes)];
      for (const [index, record] of records.entries()) {
        if (this.#seq > MAX_SEQ) throw new RangeError('the stream is too long');
        const payload = this.#options.ciphers.send.encrypt(record);
        const isLast = index === records.length - 1;
        this.#post({ kind: 'data', seq: this.#seq, payload }, isLast ? flushed : undefined);
        this.#seq += 1;
      }
    } catch (error) {
      this.destroy(error instanceof Error ? error.message : String(error));
    }
  }

  sendPart(part: Uint8Array, { isLast }: PartPlace, flushed: () => void): void {
    const message = this.#parts.add(part, isLast);
    if (message !== null) this.send(message, flushed);
    else setImmediate(flushed);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  close(reason: string): void {
    this.#finish({ clean: true, message: reason }, 'closed');
  }

  reject(reason: string): void {
    this.#finish({ clean: true, message: reason }, PROTOCOL_ERROR);
  }

  destroy(reason: string): void {
    this.#finish({ clean: false, message: reason }, 'closed');
  }

  /** Call when the stream has ended on the other side. */
  lose(reason: string): void {
    this.#finish({ clean: false, message: reason }, null);
  }

  /** Call when a frame for this stream has arrived. */
  receive(seq: number, payload: Uint8Array): void {
    if (this.#end) return;
    try {
      for (const sealed of this.#window.add(seq, payload)) {
        const record = this.#options.ciphers.receive.decrypt(sealed);
        this.#options.unfinished?.grow(record.length);
        // It may have been one message too many.
        if (this.#end) return;
        for (const message of this.#reader.add(record)) this.#enqueue(message);
      }
    } catch {
      return this.#finish({ clean: false, message: 'the stream was tampered with' }, PROTOCOL_ERROR);
    }
    this.#deliver();
  }

  #enqueue(message: Buffer): void {
    this.#options.unfinished?.forget();
    this.#unread.push(message.toString('utf8'));
    this.#unreadBytes += message.length;
    if (this.#unreadBytes > MAX_UNREAD_BYTES) this.#options.hold();
  }

  #deliver(): void {
    while (this.#receiver && !this.#isPaused && !this.#end) {
      const text = this.#unread.shift();
      if (text === undefined) break;
      this.#unreadBytes -= Buffer.byteLength(text);
      this.#receiver.message(text);
    }
    if (this.#unread.length > 0) return;
    this.#unreadBytes = 0;
    this.#options.release();
  }

  #post(body: FrameBody, flushed?: () => void): void {
    this.#options.post(encodeFrame({ streamId: this.#options.streamId, body }), flushed);
  }

  #finish(end: CloseReason, told: string | null): void {
    if (this.#end) return;
    this.#end = end;
    this.#unread = [];
    this.#options.unfinished?.forget();
    if (told !== null) this.#post({ kind: 'reset', reason: told });
    this.#options.ended();
    const receiver = this.#receiver;
    if (receiver) setImmediate(() => receiver.closed(end));
  }
}
