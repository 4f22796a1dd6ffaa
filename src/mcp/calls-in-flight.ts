import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Requests of one client that are worked on or whose answers it has not read. More than any model sends at a time. */
const MAX_IN_FLIGHT = 32;
/** Not counted: it makes room. */
const ALWAYS = 'kill_session';

/** Works on requests that a client sends ahead only as fast as it reads the answers to earlier ones. */
export class CallsInFlight {
  readonly #deliver: (message: JSONRPCMessage) => void;
  readonly #inFlight = new Set<RequestId>();
  #waiting: { readonly call: Call; readonly bytes: number }[] = [];
  #waitingBytes = 0;

  constructor(deliver: (message: JSONRPCMessage) => void) {
    this.#deliver = deliver;
  }

  /** What was read and has to wait. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Delivers a message, now or when it is its turn. */
  receive(message: JSONRPCMessage, bytes: number): void {
    if (!isCall(message)) this.#deliver(message);
    else if (this.#inFlight.size < MAX_IN_FLIGHT) this.#begin(message);
    else {
      this.#waiting.push({ call: message, bytes });
      this.#waitingBytes += bytes;
    }
    // Cancelled requests are not answered.
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) this.#cancel(cancelled);
  }

  /** The client has read an answer, or is not going to. */
  done(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#release(message.id);
  }

  #begin(call: Call): void {
    this.#inFlight.add(call.id);
    this.#deliver(call);
  }

  #cancel(id: RequestId): void {
    this.#waiting = this.#waiting.filter(({ call }) => call.id !== id);
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#release(id);
  }

  #release(id: RequestId): void {
    this.#inFlight.delete(id);
    while (this.#inFlight.size < MAX_IN_FLIGHT) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      this.#begin(next.call);
    }
  }
}

type Call = JSONRPCMessage & { readonly id: RequestId };

function isCall(message: JSONRPCMessage): message is Call {
  if (!('method' in message) || !('id' in message) || message.method !== 'tools/call') return false;
  return message.params?.['name'] !== ALWAYS;
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
