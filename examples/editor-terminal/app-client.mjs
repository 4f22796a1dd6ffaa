// As much of a client as an editor needs: requests with answers, notifications by method.
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';

export class AppClient extends EventEmitter {
  #server;
  #waiting = new Map();
  #nextId = 1;

  /** Starts the server as a child: when this program goes, so does everything it started. */
  constructor(command, args) {
    super();
    this.#server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    createInterface({ input: this.#server.stdout }).on('line', (line) => this.#receive(JSON.parse(line)));
  }

  request(method, params) {
    const id = this.#nextId++;
    this.#server.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Resolves with the exit code of the server. */
  close() {
    const exit = new Promise((resolve) => this.#server.once('exit', resolve));
    this.#server.stdin.end();
    return exit;
  }

  #receive(message) {
    if ('method' in message) {
      this.emit(message.method, message.params);
      return;
    }
    const { resolve, reject } = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(`${message.error.message} (${message.error.code})`));
    else resolve(message.result);
  }
}
