import type { SignalName, TerminalSize, TerminalState } from '../../contract/index.js';
import type { ServerCapabilities } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';
import type { ProcessInput } from './process-input.js';

/** The byte that the end-of-file key produces on a terminal. */
const END_OF_FILE = Uint8Array.of(0x04);

export interface RemoteControlsOptions {
  readonly client: ExecClient;
  readonly processId: string;
  readonly input: ProcessInput;
  /** Its stdin was requested as a pipe. */
  readonly pipeStdin: boolean;
}

/** What can be done to a process on a server. Servers differ in that: what one cannot do is refused by name. */
export class RemoteControls {
  readonly #options: RemoteControlsOptions;

  constructor(options: RemoteControlsOptions) {
    this.#options = options;
  }

  async closeStdin({ tty }: { tty: boolean }): Promise<void> {
    const { client, processId, input, pipeStdin } = this.#options;
    if (this.#capabilities.processCloseStdin) {
      await input.afterWrites(async (after) => {
        await client.call('process/closeStdin', after === undefined ? { processId } : { processId, after });
      });
    } else if (tty) {
      await input.write(END_OF_FILE);
    } else if (pipeStdin) {
      throw unsupported('a way to close the input of a process');
    }
  }

  async resize(size: TerminalSize): Promise<void> {
    const { client, processId, input } = this.#options;
    if (!this.#capabilities.processResize) throw unsupported('a way to change the size of a terminal');
    input.flush();
    await client.call('process/resize', { processId, size });
  }

  /** Null if that is unknown. */
  async inspect(): Promise<TerminalState | null> {
    const { client, processId } = this.#options;
    if (!this.#capabilities.processInspect) return null;
    return (await client.call('process/inspect', { processId })).state;
  }

  async signal(signal: SignalName): Promise<void> {
    const { client, processId, input } = this.#options;
    const byName = this.#capabilities.processSignals === true;
    if (!byName && signal !== 'SIGINT') throw unsupported(`${signal}, only SIGINT`);
    input.flush();
    await client.call('process/signal', { processId, signal: byName ? signal : 'interrupt' });
  }

  /** Returns false if there was nothing left to kill. */
  async terminate({ graceMs }: { graceMs?: number }): Promise<boolean> {
    const { client, processId } = this.#options;
    const polite = graceMs !== undefined && this.#capabilities.terminateGrace;
    const request = polite ? { processId, graceMs } : { processId };
    return (await client.call('process/terminate', request)).running;
  }

  get #capabilities(): ServerCapabilities {
    return this.#options.client.serverCapabilities;
  }
}
