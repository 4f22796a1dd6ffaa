import type { Connection, OpeningConnection } from './connection.js';

/** Something a request can be sent on: a connection, possibly with its handshake still unanswered. */
export type Line = Connection | OpeningConnection;

/** The connection a client has or is opening. */
export class CurrentLine {
  #connection: Connection | undefined;
  #opening: OpeningConnection | undefined;
  /** Set while a connection is being opened. All waiting calls share this promise. */
  #pending: Promise<Connection> | undefined;
  readonly #waiting = new Set<(opening: OpeningConnection) => void>();

  get connection(): Connection | undefined {
    return this.#connection;
  }

  get opening(): OpeningConnection | undefined {
    return this.#opening;
  }

  get pending(): Promise<Connection> | undefined {
    return this.#pending;
  }

  /** Where to send right now, if anywhere. */
  get current(): Line | undefined {
    return this.#connection ?? this.#opening;
  }

  expect(pending: Promise<Connection>): void {
    this.#pending = pending;
    pending.catch(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
  }

  /**
   * Where to send next, once possible: the connection `pending` resolves to, or the same one before its handshake is
   * answered.
   */
  next(pending: Promise<Connection>): Promise<Line> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      pending.then(resolve, reject).finally(() => this.#waiting.delete(resolve));
    });
  }

  /** Lets waiting calls send before the handshake is answered. */
  allowEarly(opening: OpeningConnection): void {
    this.#opening = opening;
    for (const resolve of [...this.#waiting]) resolve(opening);
  }

  /** The handshake failed. Returns false if it had already completed. */
  drop(opening: OpeningConnection): boolean {
    if (this.#opening !== opening) return false;
    this.#opening = undefined;
    return true;
  }

  online(connection: Connection): void {
    this.#connection = connection;
    this.#opening = undefined;
    this.#pending = undefined;
  }

  offline(): void {
    this.#connection = undefined;
    this.#opening = undefined;
  }
}
