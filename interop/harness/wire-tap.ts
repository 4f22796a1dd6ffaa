import type { Tap } from '../../testkit/fault-proxy.mjs';
import { FrameDecoder } from './frame-decoder.js';
import { type RpcMessage, WireLog, type WireMessage } from './wire-log.js';

/** Reads along with everything that passes a proxy, and breaks a connection in the middle of a message on request. */
export class WireTap {
  readonly log = new WireLog();
  #connections = 0;
  #breakAt: ((message: WireMessage) => boolean) | undefined;

  /** For the next connection. */
  readonly open = (): Tap => {
    this.#connections += 1;
    const connection = this.#connections;
    return { toServer: this.#recorder(connection, 'client'), toClient: this.#recorder(connection, 'server') };
  };

  /** Breaks the connection once, in the middle of the first message from the server that matches. */
  breakInside(matches: (message: WireMessage) => boolean): void {
    this.#breakAt = matches;
  }

  /** Logs one direction of a connection; tells for each piece how many of its bytes may pass. */
  #recorder(connection: number, from: WireMessage['from']): (bytes: Buffer) => number {
    const decoder = new FrameDecoder();
    return (bytes) => {
      for (const { text, end } of decoder.push(bytes)) {
        const message = { ...(JSON.parse(text) as RpcMessage), connection, from };
        this.log.add(message);
        if (from === 'server' && this.#breakAt?.(message)) {
          this.#breakAt = undefined;
          // The last byte of the message never leaves: the other side is left with an unfinished frame.
          return end - 1;
        }
      }
      return bytes.length;
    };
  }
}
