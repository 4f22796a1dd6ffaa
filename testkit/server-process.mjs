import { once } from 'node:events';
import { bin, endChild, firstLine, launch } from './launch.mjs';
import { lineWire, WireClient } from './wire-client.mjs';

/** @typedef {import('node:child_process').ChildProcessWithoutNullStreams} Child */

/**
 * @typedef {import('./launch.mjs').LaunchOptions & {
 *   args?: readonly string[],
 *   command?: string,
 *   program?: string,
 * }} ServerOptions `command` defaults to `serve`, `program` to the built command line.
 */

/** The built server in its own process, listening on a port of its choice. */
export class ServerProcess {
  url;
  child;
  #stderr;
  #stopping = false;

  /**
   * @param {Child} child
   * @param {string} url
   * @param {() => string} stderr
   * @private
   */
  constructor(child, url, stderr) {
    this.child = child;
    this.url = url;
    this.#stderr = stderr;
    child.on('exit', (code, signal) => {
      // A server that ends by itself is a bug, whichever test happens to notice.
      if (!this.#stopping) console.error(`the server ended by itself: ${code ?? signal}\n${stderr()}`);
    });
  }

  /** @param {ServerOptions} [options] */
  static async start({ args = [], command = 'serve', program = bin, ...options } = {}) {
    const child = launch([process.execPath, program, command, ...args], options);
    let said = '';
    child.stderr.on('data', (data) => {
      said += data.toString();
    });
    const stderr = () => said;
    child.stdin.end();
    return new ServerProcess(child, await firstLine(child, stderr), stderr);
  }

  get pid() {
    return this.child.pid ?? -1;
  }

  get stderr() {
    return this.#stderr();
  }

  /**
   * Resolves to the first group of a pattern once stderr matches it.
   * @param {RegExp} pattern
   * @returns {Promise<string>}
   */
  async saysOnStderr(pattern) {
    for (;;) {
      const found = pattern.exec(this.stderr);
      if (found) return found[1] ?? found[0];
      await once(this.child.stderr, 'data');
    }
  }

  /** Whether it is still running. */
  get isAlive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /**
   * Ends the server and resolves to its exit code.
   * @param {NodeJS.Signals} [signal]
   */
  async stop(signal = 'SIGTERM') {
    this.#stopping = true;
    return await endChild(this.child, signal);
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}

/** The built server on stdio, with a client connected to it. */
export class StdioServer {
  child;
  client;
  /** The client's wire, for tests that listen themselves. */
  wire;
  /** @type {Promise<unknown[]>} */
  exit;

  /** @param {import('./launch.mjs').LaunchOptions & { args?: readonly string[] }} [options] */
  constructor({ args = [], ...options } = {}) {
    this.child = launch([process.execPath, bin, 'serve', '--listen', 'stdio', ...args], options);
    this.child.stderr.resume();
    this.exit = once(this.child, 'exit');
    this.wire = lineWire(this.child);
    this.client = new WireClient(this.wire);
  }

  async [Symbol.asyncDispose]() {
    this.child.stdin.end();
    await this.exit;
  }
}
