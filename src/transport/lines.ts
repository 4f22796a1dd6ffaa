import type { Readable, Writable } from 'node:stream';
import {
  BinaryMessage,
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  messageText,
  type OutgoingMessage,
  type PartPlace,
} from '../rpc/index.js';
import { asciiText } from './ascii-text.js';

/** The longest line either side sends: the size limit of a WebSocket message. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);

export interface LineChannelOptions {
  readonly label: string;
  readonly input: Readable;
  readonly output: Writable;
  readonly maxLineBytes?: number;
}

/** One JSON message per line over a pair of byte streams. Blank lines are ignored. */
export class LineChannel implements Channel {
  readonly label: string;
  /** What the other side sent that cannot be a message, if that ended the channel. */
  violation: string | undefined;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #receiver: ChannelReceiver | undefined;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #ended = false;

  constructor(options: LineChannelOptions) {
    this.label = options.label;
    this.#input = options.input;
    this.#output = options.output;
    this.#maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#input.on('data', (data: Buffer) => this.#split(data));
    this.#input.on('end', () => this.#endOfInput());
    this.#input.on('error', (error: Error) => this.#end({ clean: false, message: error.message }));
    this.#input.on('close', () => this.#end({ clean: false, message: 'the input was closed' }));
    this.#output.on('error', (error: Error) => this.#end({ clean: false, message: error.message }));
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (this.#ended || !this.#output.writable) return;
    if (typeof message === 'string' || message instanceof BinaryMessage) {
      this.#output.write(`${messageText(message)}\n`, () => flushed());
      return;
    }
    // One system call for both, without copying the message.
    this.#output.cork();
    this.#output.write(message);
    this.#output.write(LINE_END, () => flushed());
    this.#output.uncork();
  }

  sendPart(part: Uint8Array, { isLast }: PartPlace, flushed: () => void): void {
    if (isLast) return this.send(part, flushed);
    if (!this.#ended && this.#output.writable) this.#output.write(part, () => flushed());
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    if (!this.#ended) this.#input.resume();
  }

  close(reason: string): void {
    if (this.#ended) return;
    this.#output.end();
    this.#end({ clean: true, message: reason });
  }

  reject(reason: string): void {
    this.close(reason);
  }

  destroy(reason: string): void {
    if (this.#ended) return;
    this.#output.destroy();
    this.#end({ clean: false, message: reason });
  }

  #split(data: Buffer): void {
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
      this.#pieces.push(data.subarray(start, end));
      this.#deliver();
      start = end + 1;
      if (this.#ended) return;
    }
    if (start < data.length) {
      this.#pieces.push(data.subarray(start));
      this.#pieceBytes += data.length - start;
    }
    if (this.#pieceBytes > this.#maxLineBytes) this.#break('a line is longer than the limit');
  }

  #deliver(): void {
    const [first = Buffer.alloc(0)] = this.#pieces;
    const line = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    let text: string;
    try {
      text = asciiText(line) ?? this.#decoder.decode(line);
    } catch {
      this.#break('a line is not UTF-8');
      return;
    }
    if (text.trim() !== '') this.#receiver?.message(text);
  }

  #endOfInput(): void {
    if (this.#pieces.length > 0 && !this.#ended) this.#deliver();
    this.#end({ clean: true, message: 'end of input' });
  }

  #break(message: string): void {
    this.violation = message;
    this.#input.destroy();
    this.#end({ clean: false, message });
  }

  #end(reason: CloseReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#receiver?.closed(reason);
  }
}
