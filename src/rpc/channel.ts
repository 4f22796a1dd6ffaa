import { BinaryMessage, frameText } from './binary-frame.js';

/** Why a channel ended. `clean` is true when one of the two sides meant to. */
export interface CloseReason {
  readonly clean: boolean;
  readonly message: string;
  /** Set when the other side was given up for having been silent: it may not know. */
  readonly silent?: boolean;
}

/** How the owner of a channel hears from it. Called on the event loop, never from within `open`. */
export interface ChannelReceiver {
  /** One whole message. Not yet known to be JSON. */
  message(text: string): void;
  /** One whole binary frame, as it came. Without this it counts as text that cannot be read. */
  binary?(data: Uint8Array): void;
  /** Exactly once, last. */
  closed(reason: CloseReason): void;
}

/** A message to send: its text, the same in UTF-8 where that is cheaper to put together, or a binary frame. */
export type OutgoingMessage = string | Uint8Array | BinaryMessage;

/** The text of a message, for a transport that moves text alone. */
export function messageText(message: OutgoingMessage): string {
  if (typeof message === 'string') return message;
  return message instanceof BinaryMessage ? frameText(message.joined()) : new TextDecoder().decode(message);
}

/** Puts the parts of a message together, for a transport that moves whole messages alone. */
export class PartCollector {
  #parts: string[] = [];
  readonly #decoder = new TextDecoder();

  /** The whole message with its last part, null before. */
  add(part: Uint8Array, isLast: boolean): string | null {
    this.#parts.push(this.#decoder.decode(part, { stream: !isLast }));
    return isLast ? this.#parts.splice(0).join('') : null;
  }
}

/** What a part is a part of. */
export interface PartPlace {
  /** It completes its message. */
  readonly isLast: boolean;
  /** The message is a binary frame; only for channels that carry bytes. */
  readonly isFrame: boolean;
}

/** Moves whole messages both ways. Knows nothing of what they say. */
export interface Channel {
  /** For logs: what kind of channel and where to. Never arguments, environment or tokens. */
  readonly label: string;
  /** Whether binary frames arrive as such on the other side. Others send them as text. Absent: no. */
  readonly carriesBytes?: boolean;
  /**
   * Whether the other side takes binary messages that were deflated. Absent: no.
   *
   * @internal
   */
  readonly inflates?: boolean;
  /** Starts delivery. Called once. */
  open(receiver: ChannelReceiver): void;
  /**
   * Queues one message; `flushed` is called when it has left this process. Silently dropped once closed. Bytes must
   * stay as they are until then.
   */
  send(message: OutgoingMessage, flushed: () => void): void;
  /**
   * Sends one message in parts that come one after the other, nothing else between them. The bytes of a part must stay as
   * they are until its `flushed`.
   */
  sendPart(part: Uint8Array, place: PartPlace, flushed: () => void): void;
  /** Stops and continues delivery of incoming messages. */
  pause(): void;
  resume(): void;
  /** Ends the channel after what is queued, saying why where the transport can. Idempotent. */
  close(reason: string): void;
  /** The same, because the other side broke the protocol. */
  reject(reason: string): void;
  /** Ends the channel at once. */
  destroy(reason: string): void;
  /**
   * As `close`, for whoever does not wait for the other side to agree. Absent where nobody is asked.
   *
   * @internal
   */
  leave?(reason: string): void;
}
