import { closeSync } from 'node:fs';
import { makeSockets } from './socket-maker.js';
import { type SandboxNetwork, sandboxNetworks } from './sandbox-networks.js';

/** The size of the first batch. Most sandboxes get a few connections; those used from a browser get many. */
const FIRST_BATCH = 8;
const MAX_BATCH = 128;

/** A supply of sockets for one sandbox, created in advance. */
class Supply {
  readonly #sockets: number[] = [];
  #batch = FIRST_BATCH;
  #making: Promise<void> | undefined;
  #closed = false;

  async take(network: SandboxNetwork): Promise<number> {
    for (;;) {
      const fd = this.#sockets.pop();
      if (fd !== undefined) return fd;
      this.#making ??= this.#make(network).finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  close(): void {
    this.#closed = true;
    for (const fd of this.#sockets.splice(0)) closeSync(fd);
  }

  async #make(network: SandboxNetwork): Promise<void> {
    const made = await makeSockets(network, this.#batch);
    this.#batch = Math.min(this.#batch * 2, MAX_BATCH);
    this.#sockets.push(...made);
    if (this.#closed) this.close();
  }
}

const supplies = new Map<string, Supply>();

/** A socket that belongs to the network of a sandbox. The caller owns it. */
export async function takeSocket(network: SandboxNetwork): Promise<number> {
  closeUnused();
  const supply = supplies.get(network.name) ?? new Supply();
  supplies.set(network.name, supply);
  return await supply.take(network);
}

/** Closes unused sockets, which would keep their network alive. Call when a sandbox has ended. */
export function closeUnused(): void {
  if (supplies.size === 0) return;
  const running = new Set(sandboxNetworks().map(({ name }) => name));
  for (const [name, supply] of supplies) {
    if (running.has(name)) continue;
    supplies.delete(name);
    supply.close();
  }
}
