import { once } from 'node:events';
import { bin, launch } from './launch.mjs';

/**
 * @typedef {object} CommandResult
 * @property {number | null} code
 * @property {string} stdout
 * @property {string} stderr
 */

/** Keeps the configuration of the user who runs the tests out of them. */
const NO_CONFIGURATION = { EXECWIRE_HOME: '/nonexistent', EXECWIRE_SERVER_URL: '', NODE_EXTRA_CA_CERTS: '' };

/** The built command line in its own process, without the configuration of the user who runs the tests. */
export class CommandLine {
  child;
  /** @type {Buffer[]} */
  #stdout = [];
  /** @type {Buffer[]} */
  #stderr = [];
  #closed;
  #heard = () => {};

  /**
   * @param {readonly string[]} args
   * @param {Readonly<Record<string, string>>} [env]
   */
  constructor(args, env = {}) {
    this.child = launch([process.execPath, bin, ...args], { env: { ...NO_CONFIGURATION, ...env } });
    this.#closed = once(this.child, 'close');
    this.child.stdout.on('data', (data) => {
      this.#stdout.push(data);
      this.#heard();
    });
    this.child.stderr.on('data', (data) => this.#stderr.push(data));
  }

  get bytes() {
    return Buffer.concat(this.#stdout);
  }

  /**
   * Resolves once stdout contains a text.
   * @param {string} text
   * @returns {Promise<void>}
   */
  async says(text) {
    await new Promise((resolve) => {
      this.#heard = () => {
        if (this.bytes.includes(text)) resolve(undefined);
      };
      this.#heard();
    });
  }

  /** @returns {Promise<CommandResult>} */
  async result() {
    await this.#closed;
    return {
      code: this.child.exitCode,
      stdout: this.bytes.toString(),
      stderr: Buffer.concat(this.#stderr).toString(),
    };
  }
}

/**
 * Runs a command line to completion.
 * @param {readonly string[]} args
 * @param {{ input?: string | Buffer, env?: Readonly<Record<string, string>> }} [options]
 */
export async function execwire(args, { input = '', env } = {}) {
  const command = new CommandLine(args, env);
  command.child.stdin.end(input);
  return await command.result();
}
