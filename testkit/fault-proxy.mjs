import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DelayedPassage, tripClocks } from './line.mjs';

/** @typedef {import('node:net').Socket} Socket */
/** @typedef {{ near: Socket, far: Socket, halfOpen: boolean, swallowed: boolean }} Link */

/**
 * Watches one connection. Each function returns how many of the bytes may pass; if fewer than all, the connection then
 * ends.
 * @typedef {object} Tap
 * @property {(bytes: Buffer) => number} toServer
 * @property {(bytes: Buffer) => number} toClient
 */

/**
 * @typedef {object} FaultProxyOptions
 * @property {import('./line.mjs').LineOptions} [line] Makes the server far away.
 * @property {() => Tap} [tap] Called for every connection.
 */

/** A TCP relay on loopback that injects faults on request. */
export class FaultProxy {
  #server = createServer((near) => this.#relay(near));
  #target;
  #options;
  /** @type {Set<Link>} */
  #links = new Set();
  #refusing = false;
  /** @type {Set<{ goal: number, resolve: () => void }>} */
  #byteWaits = new Set();
  #frozen = false;
  /** Bytes from clients to the server so far. */
  bytesToServer = 0;
  /** Bytes from the server to clients so far. */
  bytesToClients = 0;
  /**
   * Sequential round trips that a client has waited for: the maximum over all connections. Counted only with `line`.
   */
  roundTrips = 0;

  /**
   * @param {string} url
   * @param {FaultProxyOptions} options
   * @private
   */
  constructor(url, options) {
    this.#target = new URL(url);
    this.#options = options;
  }

  /**
   * Relays to the server behind a `ws://` URL.
   * @param {string} url
   * @param {FaultProxyOptions} [options]
   */
  static async to(url, options = {}) {
    const proxy = new FaultProxy(url, options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The address for clients. It stays the same whichever server is behind it. */
  get url() {
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `ws://127.0.0.1:${port}`;
  }

  /**
   * Relays new connections to another server, such as one that was restarted at another address.
   * @param {string} url
   */
  leadTo(url) {
    this.#target = new URL(url);
  }

  /**
   * Resolves once this many more bytes have gone to clients.
   * @param {number} count
   * @returns {Promise<void>}
   */
  afterBytes(count) {
    return new Promise((resolve) => {
      this.#byteWaits.add({ goal: this.bytesToClients + count, resolve });
    });
  }

  /** Cuts every connection abruptly, in the middle of any message. */
  cut() {
    for (const { near, far } of this.#links) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Cuts every connection and accepts no new ones until `restore`. */
  interrupt() {
    this.#refusing = true;
    this.cut();
  }

  restore() {
    this.#refusing = false;
  }

  /**
   * Refuses all connections for a while.
   * @param {number} forMs
   */
  async refuse(forMs) {
    this.interrupt();
    await pause(forMs);
    this.restore();
  }

  /**
   * Holds back one direction for a while; nothing is lost.
   * @param {'toClient' | 'toServer'} direction
   * @param {number} forMs
   */
  async stall(direction, forMs) {
    const sources = [...this.#links].map(({ near, far }) => (direction === 'toClient' ? far : near));
    for (const socket of sources) socket.pause();
    await pause(forMs);
    for (const socket of sources) socket.resume();
  }

  /** Lets nothing through until `thaw`, on new connections either. Nothing is lost. */
  freeze() {
    this.#frozen = true;
    for (const { near, far } of this.#links) {
      near.pause();
      far.pause();
    }
  }

  thaw() {
    this.#frozen = false;
    for (const { near, far } of this.#links) {
      near.resume();
      far.resume();
    }
  }

  /** Discards everything sent over existing connections from now on. Neither side notices. */
  swallow() {
    for (const link of this.#links) {
      link.halfOpen = true;
      link.swallowed = true;
    }
  }

  /** The server loses its clients immediately, and they do not notice. */
  silenceToClient() {
    for (const link of this.#links) {
      link.halfOpen = true;
      link.far.resetAndDestroy();
    }
  }

  /** Clients lose their server immediately, and it does not notice. */
  silenceToServer() {
    for (const link of this.#links) {
      link.halfOpen = true;
      link.near.resetAndDestroy();
    }
  }

  /** Cuts every connection and accepts no new ones. */
  async close() {
    if (!this.#server.listening) return;
    this.#refusing = true;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { near, far } of this.#links) {
      near.destroy();
      far.destroy();
    }
    await closed;
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /** @param {Socket} near */
  #relay(near) {
    if (this.#refusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(this.#target.port), this.#target.hostname);
    const link = { near, far, halfOpen: false, swallowed: false };
    this.#links.add(link);
    const { line, tap = () => passAll } = this.#options;
    const { toServer, toClient } = tap();
    const clocks = tripClocks(near, (trips) => {
      this.roundTrips = Math.max(this.roundTrips, trips);
    });
    const isFrozen = () => this.#frozen;
    const outward = line
      ? new DelayedPassage(near, far, line, clocks.toServer)
      : new Passage(near, far, isFrozen);
    const homeward = line
      ? new DelayedPassage(far, near, line, clocks.toClient)
      : new Passage(far, near, isFrozen);
    this.#forward(link, near, { passage: outward, tap: toServer });
    this.#forward(link, far, { passage: homeward, tap: toClient });
    near.on('data', ({ length }) => {
      this.bytesToServer += length;
    });
    far.on('data', ({ length }) => this.#count(length));
    if (this.#frozen) this.freeze();
  }

  /**
   * Moves bytes in one direction until either side ends; then both do.
   * @param {Link} link
   * @param {Socket} from
   * @param {{ passage: Passage | DelayedPassage, tap: (bytes: Buffer) => number }} way
   */
  #forward(link, from, { passage, tap }) {
    from.setNoDelay(true);
    from.on('data', (bytes) => {
      if (link.swallowed) return;
      const passing = tap(bytes);
      passage.push(bytes.subarray(0, passing));
      if (passing < bytes.length) from.destroy();
    });
    from.on('end', () => passage.end());
    // Connections may end with a reset here; 'close' follows and does the work.
    from.on('error', () => undefined);
    from.on('close', () => {
      if (link.near.destroyed && link.far.destroyed) this.#links.delete(link);
      // A half-open link keeps its other half until that gives up by itself.
      if (!link.halfOpen) passage.close();
    });
  }

  /** @param {number} size */
  #count(size) {
    this.bytesToClients += size;
    for (const wait of this.#byteWaits) {
      if (this.bytesToClients < wait.goal) continue;
      this.#byteWaits.delete(wait);
      wait.resolve();
    }
  }
}

/** @type {Tap} */
const passAll = { toServer: ({ length }) => length, toClient: ({ length }) => length };

/** One direction of one connection: forwards bytes immediately, as fast as the other side takes them. */
class Passage {
  #from;
  #to;

  /**
   * @param {Socket} from
   * @param {Socket} to
   * @param {() => boolean} isFrozen
   */
  constructor(from, to, isFrozen) {
    this.#from = from;
    this.#to = to;
    to.on('drain', () => {
      if (!isFrozen()) from.resume();
    });
  }

  /** @param {Buffer} bytes */
  push(bytes) {
    if (!this.#to.destroyed && !this.#to.write(bytes)) this.#from.pause();
  }

  end() {
    this.#to.end();
  }

  /** The source has ended; what has arrived is still delivered. */
  close() {
    this.#to.destroySoon();
  }
}
