import { listeningSockets, type ListeningSocket } from '../kernel/index.js';
import { type SandboxNetwork, sandboxNetworks } from './sandbox-networks.js';
import { SandboxSockets } from './sandbox-sockets.js';
import { SocketOwners } from './socket-owners.js';

/** A listening socket and its owner. */
export interface Listener extends ListeningSocket {
  /** Null if none of our processes has it open. */
  readonly pid: number | null;
  readonly treeId: number | null;
  /** The network of a sandbox; null if it is our own. */
  readonly network: SandboxNetwork | null;
}

/** `fresh`: ignore cached results. */
export interface Look {
  readonly fresh?: boolean;
}

/** Everything that listens in our network and in those of our sandboxes. Caches what it has found out. */
export class Listeners {
  readonly #owners = new SocketOwners();
  readonly #networks = new Map<string, SandboxSockets>();
  #looking: Promise<Listener[]> | undefined;
  #nextLook: Promise<Listener[]> | undefined;

  /** Concurrent callers share one scan. */
  look(options: Look = {}): Promise<Listener[]> {
    this.#looking ??= this.#look(options).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Always scans again, however recent the last scan. */
  lookAgain(): Promise<Listener[]> {
    const before = this.#looking ?? Promise.resolve([]);
    const again = (): Promise<Listener[]> => {
      this.#nextLook = undefined;
      return this.look({ fresh: true });
    };
    this.#nextLook ??= before.then(again, again);
    return this.#nextLook;
  }

  async #look(options: Look): Promise<Listener[]> {
    const networks = sandboxNetworks();
    const inside = await Promise.all(networks.map((network) => this.#lookInto(network, options)));
    for (const name of this.#networks.keys())
      if (!networks.some((network) => network.name === name)) this.#networks.delete(name);
    const sockets = [...listeningSockets().map((socket) => ({ ...socket, network: null })), ...inside.flat()];
    await this.#owners.update(new Set(sockets.map(({ inode }) => inode)));
    return sockets.flatMap((socket) => {
      const owner = this.#owners.get(socket.inode);
      // Besides its programs, a managed network has our proxy inside.
      if (owner === null && socket.network !== null) return [];
      return [{ ...socket, pid: owner?.pid ?? null, treeId: owner?.treeId ?? null }];
    });
  }

  async #lookInto(
    network: SandboxNetwork,
    options: Look,
  ): Promise<(ListeningSocket & { readonly network: SandboxNetwork })[]> {
    const sockets = this.#networks.get(network.name) ?? new SandboxSockets();
    this.#networks.set(network.name, sockets);
    return (await sockets.read(network, options)).map((socket) => ({ ...socket, network }));
  }
}
