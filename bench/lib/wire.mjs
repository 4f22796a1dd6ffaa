import { once } from 'node:events';
import { WebSocket } from 'ws';
import { bulkAnswer } from './bulk-answer.mjs';
import { toFrame } from './frames.mjs';
import { outputSize } from './output-size.mjs';

/**
 * The least a client can be, the same for every server: requests, ends of processes, and a count of output bytes.
 * Output and the content of files are measured where they lie and never parsed or decoded, so that the client is not
 * what is measured.
 */
export class WireClient {
  #link;
  #nextId = 1;
  #pending = new Map();
  #closings = new Map();
  #outputBytes = 0;
  #outputMessages = 0;
  #outputGoal = null;

  /** Whether the server takes bytes as they are. */
  #framed = false;

  constructor(link) {
    this.#link = link;
    link.onMessage((message) => this.#receive(message));
    link.onClose(() => this.#fail(new Error('the connection closed')));
  }

  async handshake(capabilities = {}) {
    await this.request('initialize', { clientName: 'bench', capabilities });
    this.#link.send('{"method":"initialized","params":{}}');
    this.#framed = capabilities.binaryFrames === true;
  }

  request(method, params) {
    return this.requestText(method, params === undefined ? 'null' : JSON.stringify(params));
  }

  /** A request whose params are JSON already: those of a large write are put together once. */
  requestText(method, paramsText) {
    return this.#request((id) => `{"id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`);
  }

  /** A request with bulky bytes, as those where that was agreed on, else in the text that was made of them before. */
  requestBulk(method, params, { field, bytes, base64 }) {
    const others = JSON.stringify(params).slice(1, -1);
    if (!this.#framed) return this.requestText(method, `{${others},"${field}":"${base64}"}`);
    return this.#request((id) =>
      toFrame(`{"id":${id},"method":"${method}","params":{${others}},"bytes":"${field}"}`, bytes),
    );
  }

  /** Resolves at `process/closed`. Ask before starting: events of a short process may overtake the answer. */
  closing(processId) {
    return new Promise((resolve, reject) => this.#closings.set(processId, { resolve, reject }));
  }

  /** Resolves when this many bytes of output, of whichever process, have arrived from now on. */
  output(byteCount) {
    return new Promise((resolve, reject) => {
      this.#outputGoal = { byteCount: this.#outputBytes + byteCount, resolve, reject };
    });
  }

  /** Bytes of output seen on this connection so far. */
  get outputBytes() {
    return this.#outputBytes;
  }

  /** In how many messages it came. */
  get outputMessages() {
    return this.#outputMessages;
  }

  /** Stops taking anything from the connection, as a client that hangs does. */
  pauseReading() {
    this.#link.pause();
  }

  resumeReading() {
    this.#link.resume();
  }

  close() {
    this.#link.close();
  }

  #request(messageWith) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#link.send(messageWith(id));
    });
  }

  #receive(message) {
    const size = outputSize(message);
    if (size !== null) return this.#count(size);
    const bulk = bulkAnswer(message);
    if (bulk === null) this.#dispatch(JSON.parse(message.toString()));
    else settle(this.#pending, bulk.id)?.resolve(bulk);
  }

  #dispatch({ id, result, error, method, params }) {
    if (method === 'process/closed') settle(this.#closings, params.processId)?.resolve();
    else if (error) settle(this.#pending, id)?.reject(new Error(error.message));
    else if (id !== undefined) settle(this.#pending, id)?.resolve(result);
  }

  #count(size) {
    this.#outputBytes += size;
    this.#outputMessages += 1;
    const goal = this.#outputGoal;
    if (goal === null || this.#outputBytes < goal.byteCount) return;
    this.#outputGoal = null;
    goal.resolve();
  }

  #fail(error) {
    const waiting = [...this.#pending.values(), ...this.#closings.values()];
    if (this.#outputGoal) waiting.push(this.#outputGoal);
    this.#pending.clear();
    this.#closings.clear();
    this.#outputGoal = null;
    for (const { reject } of waiting) reject(error);
  }
}

function settle(waiting, key) {
  const entry = waiting.get(key);
  waiting.delete(key);
  return entry;
}

/** A WebSocket as a link: one message, one frame. */
export async function webSocketLink(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  await once(socket, 'open');
  socket.on('error', () => undefined);
  return {
    send: (text) => sendInFrames(socket, text),
    onMessage: (listener) => socket.on('message', listener),
    onClose: (listener) => socket.on('close', listener),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}

/** Codex takes messages of 64 MiB, but no frame above 16 MiB. */
const MAX_FRAME_CHARS = 8 * 1024 * 1024;

function sendInFrames(socket, text) {
  if (typeof text !== 'string') return socket.send(text);
  for (let at = 0; at < text.length; at += MAX_FRAME_CHARS) {
    const fin = at + MAX_FRAME_CHARS >= text.length;
    socket.send(text.slice(at, at + MAX_FRAME_CHARS), { fin });
  }
}

/** The stdio of a child as a link: one message, one line. */
export function stdioLink(child) {
  return {
    send: (text) => child.stdin.write(`${text}\n`),
    onMessage: (listener) => child.stdout.on('data', lineSplitter(listener)),
    onClose: (listener) => child.stdout.on('close', listener),
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume(),
    close: () => child.stdin.end(),
  };
}

/** Cuts a byte stream into lines, joining the pieces of a line only once it is complete. */
function lineSplitter(listener) {
  let pieces = [];
  return (data) => {
    let start = 0;
    for (let end = data.indexOf(10); end !== -1; end = data.indexOf(10, start)) {
      const last = data.subarray(start, end);
      listener(pieces.length === 0 ? last : Buffer.concat([...pieces, last]));
      pieces = [];
      start = end + 1;
    }
    if (start < data.length) pieces.push(data.subarray(start));
  };
}
