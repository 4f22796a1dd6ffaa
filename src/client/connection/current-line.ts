import type { Connection, OpeningConnection } from './connection.js';

/** What a request can be sent on: a connection, or one whose handshake is not answered yet. */
export type Line = Connection | OpeningConnection;

/** The connection a client has, is making, or is making but can send on already. */
export class CurrentLine {
  #connection: Connection | undefined;
  #opening: OpeningConnection | undefined;
  /** Set while there is no connection but one is being made; all waiting calls wait for this one promise. */
  #coming: Promise<Connection> | undefined;
  readonly #waiting = new Set<(opening: OpeningConnection) => void>();

  get connection(): Connection | undefined {
    return this.#connection;
  }

  get opening(): OpeningConnection | undefined {
    return this.#opening;
  }

  get coming(): Promise<Connection> | undefined {
    return this.#coming;
  }

  /** What to send on at once, if there is something. */
  get now(): Line | undefined {
    return this.#connection ?? this.#opening;
  }

  expect(coming: Promise<Connection>): void {
    this.#coming = coming;
    coming.catch(() => {
      if (this.#coming === coming) this.#coming = undefined;
    });
  }

  /** What to send on next, once there is something: `coming`, or what it is made from. */
  next(coming: Promise<Connection>): Promise<Line> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      coming.then(resolve, reject).finally(() => this.#waiting.delete(resolve));
    });
  }

  /** Whoever waits may send without waiting for the handshake. */
  goAhead(opening: OpeningConnection): void {
    this.#opening = opening;
    for (const tell of [...this.#waiting]) tell(opening);
  }

  /** The handshake failed. False when it was over before. */
  drop(opening: OpeningConnection): boolean {
    if (this.#opening !== opening) return false;
    this.#opening = undefined;
    return true;
  }

  online(connection: Connection): void {
    this.#connection = connection;
    this.#opening = undefined;
    this.#coming = undefined;
  }

  offline(): void {
    this.#connection = undefined;
    this.#opening = undefined;
  }
}
