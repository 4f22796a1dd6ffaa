import { RemoteEnvironment } from '../../client/index.js';
import { createMemoryChannels } from '../../transport/index.js';
import type { MachineServer } from '../join-options.js';

/** Sessions on this machine in the names of clients, who find their jobs among their kept processes. */
export class ClientSessions {
  readonly #server: MachineServer;
  readonly #sessions = new Map<string, Promise<RemoteEnvironment>>();

  constructor(server: MachineServer) {
    this.#server = server;
  }

  open(client: string): Promise<RemoteEnvironment> {
    const known = this.#sessions.get(client);
    if (known) return known;
    const dial = async () => {
      const [near, far] = createMemoryChannels();
      void this.#server.accept(far, { principal: `fleet:${client}`, probe: () => undefined });
      return near;
    };
    const opening = RemoteEnvironment.connect({
      id: 'jobs',
      dial,
      resume: true,
      clientName: 'execwire-jobs',
    });
    this.#sessions.set(client, opening);
    opening.catch(() => this.#sessions.delete(client));
    return opening;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session.catch(() => undefined))?.close();
  }
}
