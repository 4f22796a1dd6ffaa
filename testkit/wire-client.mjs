import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

/** @typedef {{ code?: number, reason?: string }} Closed */

/**
 * Moves text to and from a server, over any of the three transports.
 * @typedef {object} Wire
 * @property {(text: string) => void} send
 * @property {(listener: (text: string) => void) => void} onText
 * @property {(listener: (info: Closed) => void) => void} onClose
 * @property {() => void} close
 */

/**
 * @typedef {object} WireNotification
 * @property {string} method
 * @property {Record<string, unknown> & { processId: string, seq: number }} params
 */

/**
 * @typedef {object} WireAnswer
 * @property {unknown} [id]
 * @property {Record<string, unknown>} [result]
 * @property {{ code: number, message: string, data?: { code?: string } }} [error]
 */

/**
 * The pipes of a server as a wire: one message, one line.
 * @param {{ stdin: import('node:stream').Writable, stdout: import('node:stream').Readable }} pipes
 * @returns {Wire}
 */
export function lineWire({ stdin, stdout }) {
  const lines = createInterface({ input: stdout });
  return {
    send: (text) => stdin.write(`${text}\n`),
    onText: (listener) => lines.on('line', listener),
    onClose: (listener) => lines.on('close', () => listener({})),
    close: () => stdin.end(),
  };
}

/**
 * A socket as a wire. Binary frames arrive only where a test asked for them, and are read there.
 * @param {WebSocket} socket
 * @returns {Wire}
 */
export function socketWire(socket) {
  return {
    send: (text) => socket.send(text),
    onText: (listener) =>
      socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => {
        if (!isBinary) listener(data.toString());
      }),
    onClose: (listener) =>
      socket.on('close', (code, reason) => listener({ code, reason: reason.toString() })),
    close: () => socket.close(),
  };
}

/**
 * A hand-written client that shares no code with ours, so it sees what any client would see. Keeps everything in order
 * of arrival.
 */
export class WireClient {
  /** @type {(WireAnswer | WireNotification)[]} */
  arrivals = [];
  #wire;
  /** @type {Set<() => void>} */
  #watchers = new Set();
  #nextId = 1;
  /**
   * Requests that wait for their answers, and those that have come.
   * @type {Map<unknown, WireAnswer | undefined>}
   */
  #asked = new Map();
  /** @type {Closed | undefined} */
  closed;

  /** @param {Wire} wire */
  constructor(wire) {
    this.#wire = wire;
    wire.onText((text) => {
      const arrival = JSON.parse(text);
      this.arrivals.push(arrival);
      if (this.#asked.has(arrival.id)) this.#asked.set(arrival.id, arrival);
      this.#changed();
    });
    wire.onClose((info) => {
      this.closed = info;
      this.#changed();
    });
  }

  /** @param {string} text */
  send(text) {
    this.#wire.send(text);
  }

  /**
   * Sends a request and waits for its answer, error or result.
   * @param {string} method
   * @param {unknown} [params]
   * @returns {Promise<WireAnswer>}
   */
  async ask(method, params) {
    const id = `t${this.#nextId++}`;
    // Noted as it arrives: among a hundred thousand arrivals, looking for it would leave no time to read.
    this.#asked.set(id, undefined);
    try {
      this.send(JSON.stringify({ id, method, params }));
      return await this.until(() => this.#asked.get(id));
    } finally {
      this.#asked.delete(id);
    }
  }

  /**
   * @param {unknown} id
   * @returns {Promise<WireAnswer>}
   */
  answerTo(id) {
    /** @returns {each is WireAnswer} */
    const isAnswer = (/** @type {WireAnswer | WireNotification} */ each) => 'id' in each && each.id === id;
    return this.until(() => this.arrivals.find(isAnswer));
  }

  /**
   * Returns the result of a request that must succeed.
   * @param {string} method
   * @param {unknown} [params]
   * @returns {Promise<Record<string, unknown>>}
   */
  async call(method, params) {
    const answer = await this.ask(method, params);
    if (!answer.result) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /**
   * Returns the error code of a request that must fail.
   * @param {string} method
   * @param {unknown} [params]
   * @returns {Promise<number>}
   */
  async refusal(method, params) {
    const { error } = await this.ask(method, params);
    if (!error) throw new Error(`${method} did not fail`);
    return error.code;
  }

  /**
   * @param {{ resumeSessionId?: string, capabilities?: unknown }} [options]
   * @returns {Promise<string>}
   */
  async handshake(options = {}) {
    const { sessionId } = await this.call('initialize', { clientName: 'test', ...options });
    this.send('{"method":"initialized","params":{}}');
    return String(sessionId);
  }

  /**
   * @param {string} processId
   * @returns {WireNotification[]}
   */
  events(processId) {
    /** @returns {each is WireNotification} */
    const isEvent = (/** @type {WireAnswer | WireNotification} */ each) =>
      'method' in each && each.params.processId === processId;
    return this.arrivals.filter(isEvent);
  }

  /**
   * All events of a process, once it has closed.
   * @param {string} processId
   */
  async closedEvents(processId) {
    await this.until(() => this.events(processId).find(({ method }) => method === 'process/closed'));
    return this.events(processId);
  }

  /** @param {string} processId */
  output(processId) {
    return outputOf(this.events(processId));
  }

  /**
   * Waits until something that arrives makes `probe` return a value.
   * @template Value
   * @param {() => Value | undefined | false} probe
   * @returns {Promise<Value>}
   */
  until(probe) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const value = probe();
        if (value !== undefined && value !== false) {
          this.#watchers.delete(look);
          resolve(value);
        } else if (this.closed) {
          this.#watchers.delete(look);
          reject(new Error(`the connection closed: ${JSON.stringify(this.closed)}`));
        }
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** @returns {Promise<Closed>} */
  untilClosed() {
    return this.until(() => this.closed);
  }

  close() {
    this.#wire.close();
  }

  #changed() {
    for (const look of [...this.#watchers]) look();
  }
}

/** @param {readonly WireNotification[]} events */
export function outputOf(events) {
  const chunks = events.filter(({ method }) => method === 'process/output');
  return Buffer.concat(chunks.map(({ params }) => Buffer.from(String(params['chunk']), 'base64')));
}

/**
 * The params of `process/start`, with everything filled in that does not matter to the test.
 * @param {string} processId
 * @param {string[]} argv
 * @param {Record<string, unknown>} [more]
 * @returns {object}
 */
export function startParams(processId, argv, more = {}) {
  return { processId, argv, cwd: 'file:///', env: { PATH: '/usr/bin:/bin' }, tty: false, ...more };
}

/** @param {string} script */
export function sh(script) {
  return ['/bin/sh', '-c', script];
}

/**
 * Connects a WebSocket to a `ws:` or `unix:` URL, optionally with forged headers.
 * @param {string} url
 * @param {{ headers?: Record<string, string>, rejectUnauthorized?: boolean }} [options]
 */
export async function dialWire(url, options = {}) {
  const target = url.startsWith('unix://') ? `ws+unix://${url.slice('unix://'.length)}:/` : url;
  const socket = new WebSocket(target, { ...options, perMessageDeflate: false });
  const client = new WireClient(socketWire(socket));
  socket.on('error', () => undefined);
  await Promise.race([
    once(socket, 'open'),
    once(socket, 'close').then(() => Promise.reject(new Error('the connection was refused'))),
  ]);
  return { client, socket };
}
