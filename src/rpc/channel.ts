import { BinaryMessage, frameText } from './binary-frame.js';

/** Why a channel ended. `clean` is true if either side closed it on purpose. */
export interface CloseReason {
  readonly clean: boolean;
  readonly message: string;
  /** Set when the other side was given up because it went silent: it may not know that yet. */
  readonly silent?: boolean;
}

/** Receives what a channel delivers. Called from the event loop, never from within `open`. */
export interface ChannelReceiver {
  /** One complete message, not yet known to be JSON. */
  message(text: string): void;
  /** One complete binary frame, unparsed. If absent, a frame is treated as unreadable text. */
  binary?(data: Uint8Array): void;
  /** Called exactly once, last. */
  closed(reason: CloseReason): void;
}

/** A message to send: as a string, as UTF-8 bytes where those are cheaper to build, or as a binary frame. */
export type OutgoingMessage = string | Uint8Array | BinaryMessage;

/** The message as text, for transports that carry only text. */
export function messageText(message: OutgoingMessage): string {
  if (typeof message === 'string') return message;
  return message instanceof BinaryMessage ? frameText(message.joined()) : new TextDecoder().decode(message);
}

/** Joins the parts of a message, for transports that send only whole messages. */
export class PartCollector {
  #parts: string[] = [];
  readonly #decoder = new TextDecoder();

  /** Returns the whole message once its last part was added, null before. */
  add(part: Uint8Array, isLast: boolean): string | null {
    this.#parts.push(this.#decoder.decode(part, { stream: !isLast }));
    return isLast ? this.#parts.splice(0).join('') : null;
  }
}

/** Where a part belongs. */
export interface PartPlace {
  /** The part completes its message. */
  readonly isLast: boolean;
  /** The message is a binary frame. Only for channels that carry bytes. */
  readonly isFrame: boolean;
}

/** A connection to continue elsewhere. */
export interface PassedChannel {
  readonly descriptor: number;
  /** What has arrived, before what is still to be read. */
  readonly unread: Uint8Array;
  /** What was sent and has not left this process: to be sent before anything else. */
  readonly unsent: Uint8Array;
}

/** Carries whole messages in both directions without looking into them. */
export interface Channel {
  /** For logs: the kind of channel and its destination. Never arguments, environment variables or tokens. */
  readonly label: string;
  /** Whether binary frames reach the other side as such; otherwise they are sent as text. Default: false. */
  readonly carriesBytes?: boolean;
  /**
   * Whether the other side accepts deflated binary messages. Default: false.
   *
   * @internal
   */
  readonly inflates?: boolean;
  /** Starts delivery. Call once. */
  open(receiver: ChannelReceiver): void;
  /**
   * Queues one message and calls `flushed` when it has left this process. Dropped silently once closed. The bytes must
   * not change until then.
   */
  send(message: OutgoingMessage, flushed: () => void): void;
  /**
   * Sends one message in consecutive parts with nothing else between them. The bytes of a part must not change until
   * its `flushed` is called.
   */
  sendPart(part: Uint8Array, place: PartPlace, flushed: () => void): void;
  /**
   * Sends what another process had sent here and has not left it, and calls `flushed` when it has left this one. Call
   * before anything else is sent. Returns how many bytes that are. Absent: none.
   *
   * @internal
   */
  sendLeftover?(flushed: () => void): number;
  /** Pauses delivery of incoming messages. */
  pause(): void;
  resume(): void;
  /**
   * Whether what was sent and has not left can be handed over, too. Default: false.
   *
   * @internal
   */
  readonly passesUnsent?: boolean;
  /**
   * Gives the connection away to be continued by another process, together with `messages` that came and were not acted
   * on. Call when nothing is read; the event loop must not go on afterwards. Null if it is impossible. Absent: always.
   *
   * @internal
   */
  handOver?(messages: readonly (string | Uint8Array)[]): PassedChannel | null;
  /** Ends the channel after everything queued, giving the reason where the transport can. Idempotent. */
  close(reason: string): void;
  /** Like `close`, because the other side violated the protocol. */
  reject(reason: string): void;
  /** Ends the channel immediately. */
  destroy(reason: string): void;
  /**
   * Like `close`, without waiting for the other side to confirm. Absent where `close` does not wait either.
   *
   * @internal
   */
  leave?(reason: string): void;
}
