import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Bytes of unfinished messages of all senders: eight of the longest ones. */
const MAX_UNFINISHED_BYTES = 512 * 1024 * 1024;
/** What a connection may hold without being counted, so that short messages cost nothing. */
const UNCOUNTED_BYTES = 64 * 1024;
/** Memory that every piece takes, however short. */
const PIECE_BYTES = 512;

/** A sender of messages. */
export interface UnfinishedMessage {
  /** More of its message has arrived, in one piece. */
  readonly grow: (bytes: number) => void;
  /** The message is complete, or given up. */
  readonly forget: () => void;
}

interface Sender {
  bytes: number;
  counted: number;
  isCut: boolean;
  readonly cut: () => void;
}

/**
 * Limits the memory for messages that have begun and not ended, which is most of what clients can make a server hold.
 * Beyond the limit, the connection whose message has made no progress for the longest time is cut.
 */
export class UnfinishedMessages {
  readonly #maxBytes: number;
  /** Those that count, the one without progress for the longest time first. */
  readonly #senders = new Set<Sender>();
  #total = 0;

  constructor(maxBytes: number = MAX_UNFINISHED_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Counts what arrives on `stream`. Returns the function to call for bytes that messages grow by when inflated. */
  watch(socket: WebSocket, stream: Duplex, cut: () => void): (bytes: number) => void {
    const { grow, forget } = this.of(cut);
    stream.on('data', (chunk: Buffer) => grow(chunk.length));
    // What is left of the chunk that ended the message is too short to matter.
    socket.on('message', forget);
    socket.on('close', forget);
    return grow;
  }

  /** Counts one sender. `cut`: its message has to be given up. */
  of(cut: () => void): UnfinishedMessage {
    const sender: Sender = { bytes: 0, counted: 0, isCut: false, cut };
    return {
      grow: (bytes) => {
        sender.bytes += bytes + PIECE_BYTES;
        if (sender.bytes > UNCOUNTED_BYTES && !sender.isCut) this.#count(sender);
      },
      forget: () => {
        sender.bytes = 0;
        if (sender.counted > 0) this.#forget(sender);
      },
    };
  }

  #count(sender: Sender): void {
    this.#total += sender.bytes - sender.counted;
    sender.counted = sender.bytes;
    this.#senders.delete(sender);
    this.#senders.add(sender);
    for (const stalest of this.#senders) {
      if (this.#total <= this.#maxBytes) return;
      this.#forget(stalest);
      stalest.isCut = true;
      stalest.cut();
    }
  }

  #forget(sender: Sender): void {
    this.#total -= sender.counted;
    sender.counted = 0;
    this.#senders.delete(sender);
  }
}
