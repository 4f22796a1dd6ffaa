import {
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  messageText,
  type OutgoingMessage,
  PartCollector,
  type PartPlace,
} from '../../rpc/index.js';
import { encodeFrame, type FrameBody } from '../relay/relay-frame.js';
import type { Ciphers } from './handshake.js';
import { MessageReader, recordsOf } from './records.js';
import { ReorderWindow } from './reorder-window.js';

/** Unread bytes before nothing more is read for anybody on the line. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Sequence numbers do not begin anew. */
const MAX_SEQ = 0xffff_ffff;

/** What we call a violation of the protocol, as Codex does. */
export const PROTOCOL_ERROR = 'noise_relay_protocol_error';

export interface NoiseChannelOptions {
  readonly label: string;
  readonly streamId: string;
  readonly ciphers: Ciphers;
  readonly post: (frame: Uint8Array, flushed?: () => void) => void;
  /** More than enough is unread; or not any more. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly ended: () => void;
}

/** A channel through a router that can read nothing of it, and change nothing unnoticed. */
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
    // Delivery never begins from within `open`.
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

  /** The stream has ended without us. */
  lose(reason: string): void {
    this.#finish({ clean: false, message: reason }, null);
  }

  /** A frame for this stream has arrived. */
  receive(seq: number, payload: Uint8Array): void {
    if (this.#end) return;
    try {
      for (const record of this.#window.add(seq, payload))
        for (const message of this.#reader.add(this.#options.ciphers.receive.decrypt(record)))
          this.#enqueue(message);
    } catch {
      return this.#finish({ clean: false, message: 'the stream was tampered with' }, PROTOCOL_ERROR);
    }
    this.#deliver();
  }

  #enqueue(message: Buffer): void {
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
    if (told !== null) this.#post({ kind: 'reset', reason: told });
    this.#options.ended();
    const receiver = this.#receiver;
    if (receiver) setImmediate(() => receiver.closed(end));
  }
}
