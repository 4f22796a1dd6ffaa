import type { Channel } from '../rpc/index.js';

/** A machine that the console shows. */
export interface ConsoleMachine {
  readonly id: string;
  readonly kind: 'local' | 'url' | 'program';
  /** Where it is, without credentials and arguments. */
  readonly where: string;
  /**
   * Connects a browser to the machine. Resolves when the connection has ended; rejects if the machine cannot be reached.
   * The channel delivers nothing before it is opened.
   */
  serve(channel: Channel, options: { readonly probe: () => void }): Promise<void>;
}
