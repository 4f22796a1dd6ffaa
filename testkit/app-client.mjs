/** @typedef {import('./wire-client.mjs').WireClient} WireClient */

/**
 * @typedef {object} AppNotification
 * @property {string} method
 * @property {Record<string, unknown>} params
 * @property {number} emittedAtMs
 */

/** A hand-written client of the application protocol. */
export class AppClient {
  wire;

  /** @param {WireClient} wire */
  constructor(wire) {
    this.wire = wire;
  }

  /**
   * The handshake, by default with all capabilities.
   * @param {Record<string, unknown>} [capabilities]
   */
  async initialize(capabilities = { experimentalApi: true }) {
    await this.call('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities });
    this.wire.send('{"method":"initialized"}');
    return this;
  }

  /**
   * @param {string} method
   * @param {unknown} [params]
   */
  ask(method, params) {
    return this.wire.ask(method, params);
  }

  /**
   * @param {string} method
   * @param {unknown} [params]
   */
  call(method, params) {
    return this.wire.call(method, params);
  }

  /**
   * Returns code and message of a request that must fail.
   * @param {string} method
   * @param {unknown} [params]
   * @returns {Promise<[number, string]>}
   */
  async refusal(method, params) {
    const { error, result } = await this.ask(method, params);
    if (!error) throw new Error(`${method} did not fail: ${JSON.stringify(result)}`);
    return [error.code, error.message];
  }

  /**
   * Sends without waiting; the answer can be fetched later by id.
   * @param {string | number} id
   * @param {string} method
   * @param {unknown} params
   */
  post(id, method, params) {
    this.wire.send(JSON.stringify({ id, method, params }));
  }

  /**
   * @param {string} [method]
   * @returns {AppNotification[]}
   */
  notifications(method) {
    const all = /** @type {AppNotification[]} */ (
      /** @type {unknown} */ (this.wire.arrivals.filter((each) => 'method' in each))
    );
    return method === undefined ? all : all.filter((each) => each.method === method);
  }

  /**
   * The output streamed for an id so far.
   * @param {string} id
   * @param {string} [stream]
   */
  streamed(id, stream = 'stdout') {
    const own = this.notifications().filter(
      ({ method, params }) =>
        method.endsWith('/outputDelta') &&
        (params['processId'] ?? params['processHandle']) === id &&
        params['stream'] === stream,
    );
    return Buffer.concat(own.map(({ params }) => Buffer.from(String(params['deltaBase64']), 'base64')));
  }

  /**
   * Resolves when the output streamed for an id contains this text.
   * @param {string} id
   * @param {string} text
   */
  async shows(id, text) {
    await this.wire.until(() => this.streamed(id).includes(text));
  }

  /**
   * The `nth` end of a process with this handle.
   * @param {string} handle
   * @param {number} [nth]
   * @returns {Promise<Record<string, unknown>>}
   */
  async exited(handle, nth = 1) {
    return await this.wire.until(
      () =>
        this.notifications('process/exited').filter(({ params }) => params['processHandle'] === handle)[
          nth - 1
        ]?.params,
    );
  }
}

/** @param {string} text */
export function base64(text) {
  return Buffer.from(text).toString('base64');
}

/**
 * Runs a script to completion with `command/exec`.
 * @param {AppClient} client
 * @param {string} script
 * @param {object} [more]
 * @returns {Promise<{ exitCode: number, stdout: string, stderr: string }>}
 */
export async function exec(client, script, more = {}) {
  const result = await client.call('command/exec', { command: ['/bin/sh', '-c', script], ...more });
  return /** @type {never} */ (result);
}
