import type { WriteStatus } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/index.js';
import type { ProcessInput, SessionInput } from './process-input.js';
import { typeableId } from './typeable-id.js';

export interface KeptInputOptions {
  /** Input for the current session, whose write ids begin with `idPrefix`. */
  readonly open: (idPrefix?: string) => SessionInput;
  /** Whether nothing can be sent to the process at the moment. */
  readonly isAway: () => boolean;
  /** Resolves when something can. Rejects if contact is lost for good. */
  readonly inContact: () => Promise<void>;
}

/**
 * The input of a process that may have to be found again in a new session. What is written meanwhile waits. Input that the
 * old session did not answer for may have arrived or not, so it is never sent again; and neither is what was written behind
 * it, because half a command may be another command.
 */
export class KeptInput implements ProcessInput {
  readonly #options: KeptInputOptions;
  #input: SessionInput;
  /** Writes that wait for contact. */
  #held = 0;
  /** How often input was left unanswered. */
  #losses = 0;

  constructor(options: KeptInputOptions) {
    this.#options = options;
    this.#input = options.open();
  }

  async write(bytes: Uint8Array): Promise<WriteStatus> {
    const lossesBefore = this.#losses;
    let input = bytes;
    if (this.#isHolding) {
      // The caller may reuse its buffer meanwhile.
      input = bytes.slice();
      await this.#hold();
    }
    if (this.#losses > lossesBefore) throw unanswered();
    return await this.#input.write(input).catch((error: unknown) => {
      throw this.#losses > lossesBefore && isExecError(error, 'contactLost') ? unanswered(error) : error;
    });
  }

  async afterWrites(run: (after: string | undefined) => Promise<void>): Promise<void> {
    const lossesBefore = this.#losses;
    if (this.#isHolding) await this.#hold();
    if (this.#losses > lossesBefore) throw unanswered();
    await this.#input.afterWrites(run);
  }

  /** The process was found again, in a new session. */
  startAgain(): void {
    if (this.#input.abandon(unanswered())) this.#losses += 1;
    // Whatever the server remembers of the old ids.
    this.#input = this.#options.open(`${typeableId()}-`);
  }

  flush(): void {
    this.#input.flush();
  }

  lineChanged(): void {
    this.#input.lineChanged();
  }

  close(): void {
    this.#input.close();
  }

  /** What arrives while others wait queues behind them. */
  get #isHolding(): boolean {
    return this.#held > 0 || this.#options.isAway();
  }

  async #hold(): Promise<void> {
    this.#held += 1;
    try {
      await this.#options.inContact();
    } finally {
      this.#held -= 1;
    }
  }
}

/** The process continues, and nobody knows whether it got this input. */
function unanswered(cause?: ExecError): ExecError {
  const message =
    'The connection was lost for too long: this input may or may not have arrived, and is not sent again.';
  return new ExecError('contactLost', message, { data: { unanswered: true }, ...(cause ? { cause } : {}) });
}
