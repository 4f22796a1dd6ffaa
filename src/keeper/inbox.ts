import { closeSync } from 'node:fs';
import { receiveMessage, unwatchReadiness, watchReadiness } from '../host/kernel/index.js';
import type { ToKeeper } from './messages.js';

type Heard = (message: ToKeeper, descriptors: readonly number[]) => void;

/** What a server sends to its keeper, in order. Read as it arrives, or when the server rings, if it has given us a bell. */
export class Inbox {
  readonly #socket: number;
  readonly #heard: Heard;
  #bell: number | undefined;
  #open = true;

  /** Owns the socket. */
  constructor(socket: number, heard: Heard) {
    this.#socket = socket;
    this.#heard = heard;
    watchReadiness(socket, 'read', () => this.read());
  }

  get open(): boolean {
    return this.#open;
  }

  /** Reads everything there is. Call when the server has ended, too. */
  read(): void {
    while (this.#open) {
      const received = receiveMessage(this.#socket);
      if (received === null) return;
      if (received === 'end') return this.close();
      const { text, descriptors } = received;
      const message = JSON.parse(text) as ToKeeper;
      if (message.op === 'bell') this.#waitFor(descriptors[0]);
      else this.#heard(message, descriptors);
    }
  }

  /** Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    unwatchReadiness(this.#socket);
    closeSync(this.#socket);
    this.#closeBell();
  }

  /** Without room for the descriptor there is none: then every message is read as it arrives. */
  #waitFor(bell: number | undefined): void {
    this.#closeBell();
    if (bell === undefined) return;
    this.#bell = bell;
    unwatchReadiness(this.#socket);
    watchReadiness(bell, 'read', () => this.#rung(bell));
  }

  /** The bell first: what is sent after the last look at the messages rings again. */
  #rung(bell: number): void {
    let signal = receiveMessage(bell);
    while (signal !== null && signal !== 'end') signal = receiveMessage(bell);
    // The server is about to be gone; its end is seen elsewhere.
    if (signal === 'end') this.#closeBell();
    this.read();
  }

  #closeBell(): void {
    if (this.#bell === undefined) return;
    unwatchReadiness(this.#bell);
    closeSync(this.#bell);
    this.#bell = undefined;
  }
}
