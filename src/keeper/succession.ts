import type { ToKeeper, ToServer } from './messages.js';
import type { ServerCommand, ServerProcess } from './server-process.js';

/** How long a successor may take to become ready. */
const PREPARATION_LIMIT_MS = 30_000;

/** A server that is prepared while another one runs, to replace it when that one leaves. */
export class Succession {
  readonly command: ServerCommand;
  readonly server: ServerProcess;
  readonly #generation: number;
  readonly #tell: (message: ToServer) => void;
  readonly #timer: NodeJS.Timeout;
  #reason: string | undefined;
  #isPrepared = false;
  #asksForState = false;

  /** `tell`: reports the outcome to the running server. */
  constructor(
    { command, server, generation }: { command: ServerCommand; server: ServerProcess; generation: number },
    tell: (message: ToServer) => void,
  ) {
    this.command = command;
    this.server = server;
    this.#generation = generation;
    this.#tell = tell;
    this.#timer = setTimeout(() => {
      this.#reason = `the new server was not ready within ${PREPARATION_LIMIT_MS / 1000} s`;
      server.kill();
    }, PREPARATION_LIMIT_MS);
  }

  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  /** Whether it waits for the descriptors that are held. */
  get asksForState(): boolean {
    return this.#asksForState;
  }

  heard(message: ToKeeper): void {
    if (message.op === 'unfit') this.#reason = message.reason;
    else if (message.op === 'next') this.#asksForState = true;
    else if (message.op === 'prepared') {
      clearTimeout(this.#timer);
      this.#isPrepared = true;
      this.#tell({ op: 'prepared', generation: this.#generation });
    }
  }

  /** Call when it ended before it could take over. */
  failed(how: string): void {
    clearTimeout(this.#timer);
    this.#tell({
      op: 'unfit',
      reason: this.#reason ?? `the new server ended before it was ready (${how}); its log says why`,
    });
  }
}
