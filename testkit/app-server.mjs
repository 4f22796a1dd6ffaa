import { once } from 'node:events';
import { AppClient } from './app-client.mjs';
import { bin, launch } from './launch.mjs';
import { ServerProcess } from './server-process.mjs';
import { dialWire, lineWire, WireClient } from './wire-client.mjs';

/** @typedef {import('./launch.mjs').LaunchOptions & { args?: readonly string[] }} AppOptions */

/**
 * A connection to an app server.
 * @typedef {AsyncDisposable & {
 *   readonly client: AppClient,
 *   hangUp(): void,
 * }} OpenedApp `hangUp` ends the connection as the client.
 */

/** @typedef {(options?: { env?: Record<string, string>, cwd?: string }) => Promise<OpenedApp>} OpenApp */

const UNCONFINED = ['--default-sandbox', 'danger-full-access'];

/** The built server, connected by two pipes. */
export class StdioApp {
  child;
  client;
  /** The client's wire, for tests that listen themselves. */
  wire;
  /** @type {Promise<unknown[]>} */
  exit;
  stderr = '';

  /** @param {AppOptions} [options] */
  constructor({ args = [], ...options } = {}) {
    this.child = launch([process.execPath, bin, 'app-server', ...UNCONFINED, ...args], options);
    this.exit = once(this.child, 'exit');
    this.child.stderr.on('data', (data) => {
      this.stderr += data.toString();
    });
    this.wire = lineWire(this.child);
    this.client = new AppClient(new WireClient(this.wire));
  }

  hangUp() {
    this.child.stdin.end();
  }

  async [Symbol.asyncDispose]() {
    this.hangUp();
    await this.exit;
  }
}

/** The built server on a port of its choice. */
export class WebSocketApp {
  #server;

  /**
   * @param {ServerProcess} server
   * @private
   */
  constructor(server) {
    this.#server = server;
  }

  /** @param {AppOptions} [options] */
  static async start({ args = ['--listen', 'ws://127.0.0.1:0'], ...options } = {}) {
    const all = { ...options, command: 'app-server', args: [...UNCONFINED, ...args] };
    return new WebSocketApp(await ServerProcess.start(all));
  }

  get child() {
    return this.#server.child;
  }

  get url() {
    return this.#server.url;
  }

  stderr() {
    return this.#server.stderr;
  }

  /** @returns {Promise<OpenedApp>} */
  async connect() {
    const { client, socket } = await dialWire(this.url);
    const hangUp = () => socket.terminate();
    return { client: new AppClient(client), hangUp, [Symbol.asyncDispose]: async () => hangUp() };
  }

  async [Symbol.asyncDispose]() {
    await this.#server.stop();
  }
}
