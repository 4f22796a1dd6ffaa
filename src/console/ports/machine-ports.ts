import type { Duplex } from 'node:stream';
import { RemoteEnvironment } from '../../client/index.js';
import { createMemoryChannels } from '../../transport/index.js';
import type { ConsoleMachine } from '../machine.js';

/** A connection of our own to a machine, made when it is needed, that opens streams to ports there. */
export class MachinePorts {
  readonly #machine: ConsoleMachine;
  #environment: Promise<RemoteEnvironment> | undefined;
  #isClosed = false;

  constructor(machine: ConsoleMachine) {
    this.#machine = machine;
  }

  async connect(port: number, processId: string | undefined): Promise<Duplex> {
    const environment = await this.#open();
    return await environment.connect(port, { processId });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#environment?.then((environment) => environment.close()).catch(() => undefined);
  }

  async #open(): Promise<RemoteEnvironment> {
    const known = await this.#environment?.catch(() => undefined);
    if (known && !known.lost) return known;
    this.#environment = RemoteEnvironment.connect({
      id: this.#machine.id,
      dial: async () => this.#dial(),
      // A machine behind a program ends with its connection.
      resume: this.#machine.kind !== 'program',
      clientName: 'console',
    });
    const opened = await this.#environment;
    if (this.#isClosed) await opened.close();
    return opened;
  }

  #dial(): ReturnType<typeof createMemoryChannels>[0] {
    const [ours, theirs] = createMemoryChannels();
    this.#machine
      .serve(theirs, { probe: () => undefined })
      .catch((error: unknown) => theirs.destroy(error instanceof Error ? error.message : String(error)));
    return ours;
  }
}
