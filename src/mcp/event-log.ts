import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** Messages kept of one client, in bytes of JSON: a dozen of the largest answers. */
const MAX_BYTES = 1024 * 1024;
/** The same in number: priming events have no bytes worth counting. */
const MAX_EVENTS = 1024;

interface StoredEvent {
  readonly id: string;
  readonly streamId: string;
  /** Absent for an event that only begins a stream. */
  readonly message: JSONRPCMessage | undefined;
  readonly bytes: number;
}

/**
 * The last messages to one client, so that one whose connection broke gets what it missed. A client that asks for more than
 * is kept is refused: it would take an answer with a gap for a complete one.
 */
export class EventLog implements EventStore {
  readonly #maxBytes: number;
  #events: StoredEvent[] = [];
  #bytes = 0;
  #lastId = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  async storeEvent(streamId: string, message: JSONRPCMessage | Record<string, never>): Promise<string> {
    this.#lastId += 1;
    const isMessage = 'jsonrpc' in message;
    const bytes = isMessage ? JSON.stringify(message).length : 0;
    const id = String(this.#lastId);
    this.#events.push({ id, streamId, message: isMessage ? (message as JSONRPCMessage) : undefined, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes || this.#events.length > MAX_EVENTS) {
      this.#bytes -= this.#events.shift()?.bytes ?? 0;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.streamId;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex(({ id }) => id === lastId);
    const last = this.#events[at];
    if (!last) throw new Error('that event is no longer kept');
    for (const { id, streamId, message } of this.#events.slice(at + 1)) {
      if (message && streamId === last.streamId) await send(id, message);
    }
    return last.streamId;
  }
}
