import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A TCP relay on loopback that treats what goes through it badly, on request. */
export class FaultProxy {
  #server;
  #target;
  #links = new Set();
  #bytesToClient = 0;
  #byteWaits = new Set();
  #refusing = false;

  static async to(url) {
    const proxy = new FaultProxy();
    proxy.#target = new URL(url);
    proxy.#server = createServer((near) => proxy.#relay(near));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url() {
    return `ws://127.0.0.1:${this.#server.address().port}`;
  }

  /** Resolves once this many more bytes went to the client. Never, if they do not. */
  bytes(count) {
    return new Promise((resolve) => {
      this.#byteWaits.add({ goal: this.#bytesToClient + count, resolve });
    });
  }

  /** Ends every connection in the middle of whatever it was saying. */
  cut() {
    for (const { near, far } of this.#links) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Holds one direction back for a while; nothing is lost. */
  async stall(direction, forMs) {
    const sources = [...this.#links].map(({ near, far }) => (direction === 'toClient' ? far : near));
    for (const socket of sources) socket.pause();
    await pause(forMs);
    for (const socket of sources) socket.resume();
  }

  /** The server loses its client at once; the client hears nothing of it. */
  silenceToClient() {
    for (const link of this.#links) {
      link.halfOpen = true;
      link.far.resetAndDestroy();
    }
  }

  /** The client loses its server at once; the server hears nothing of it. */
  silenceToServer() {
    for (const link of this.#links) {
      link.halfOpen = true;
      link.near.resetAndDestroy();
    }
  }

  /** Nobody gets through for a while. */
  async refuse(forMs) {
    this.#refusing = true;
    this.cut();
    await pause(forMs);
    this.#refusing = false;
  }

  /** Lets nobody through any more. */
  close() {
    this.#refusing = true;
    this.#server.close();
    for (const { near, far } of this.#links) {
      near.destroy();
      far.destroy();
    }
    this.#links.clear();
  }

  #relay(near) {
    if (this.#refusing) return near.resetAndDestroy();
    const far = connect(Number(this.#target.port), this.#target.hostname);
    const link = { near, far, halfOpen: false };
    this.#links.add(link);
    this.#pass(near, far, () => undefined);
    this.#pass(far, near, (size) => this.#count(size));
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        // A half-open link keeps its other half until that one gives up by itself.
        if (!link.halfOpen || (near.destroyed && far.destroyed)) this.#links.delete(link);
        if (link.halfOpen) return;
        near.destroy();
        far.destroy();
      });
    }
  }

  #pass(from, to, passed) {
    from.on('data', (data) => {
      if (!to.destroyed && !to.write(data)) from.pause();
      passed(data.length);
    });
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
  }

  #count(size) {
    this.#bytesToClient += size;
    for (const wait of this.#byteWaits) {
      if (this.#bytesToClient < wait.goal) continue;
      this.#byteWaits.delete(wait);
      wait.resolve();
    }
  }
}

export function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
