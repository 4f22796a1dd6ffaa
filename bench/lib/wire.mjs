import { frameOf } from '../../testkit/frames.mjs';
import { bulkAnswer } from './bulk-answer.mjs';
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
  /** @type {{ byteCount: number, resolve: (value?: unknown) => void, reject: (error: Error) => void } | null} */
  #outputGoal = null;

  /** Whether the server takes bytes as they are. */
  #framed = false;

  /** @param {import('../../testkit/links.mjs').Link} link */
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
      frameOf(`{"id":${id},"method":"${method}","params":{${others}},"bytes":"${field}"}`, bytes),
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
