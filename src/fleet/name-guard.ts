import { ExecError } from '../protocol/errors.js';
import type { Bus } from './bus/bus.js';
import { Machine } from './machine.js';
import { z } from 'zod';

/** How long another machine may take to say that it has our name. */
const ANSWER_MS = 250;
/** How often to ask before a name is ours. */
const CLAIM_ROUNDS = 2;
/** How often to make sure that nobody else has it. */
const CHECK_INTERVAL_MS = 10_000;

/** What a machine answers when asked by its name. */
export const Claim = Machine.extend({
  /** False while it is still making sure that the name is free. */
  isMember: z.boolean(),
});
export type Claim = z.output<typeof Claim>;

export interface NameGuardOptions {
  readonly bus: Bus;
  /** Where whoever has our name answers. */
  readonly subject: string;
  readonly inbox: string;
  readonly epoch: number;
  readonly name: string;
  /** Called when a later machine has taken our name. */
  readonly taken: () => void;
}

/**
 * Sees to it that a name means one machine. Whoever joins while another machine answers to the name is refused. Should two
 * have it all the same, because one of them did not answer for a while, the earlier one gives way.
 */
export class NameGuard {
  readonly #options: NameGuardOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NameGuardOptions) {
    this.#options = options;
  }

  /**
   * Fails if the name is taken. Of two that join at once, the first one gets it. One that could not answer our first
   * question, because it began later, answers the second; by its own second one, we are a member.
   */
  async claim(): Promise<void> {
    for (let round = 1; round <= CLAIM_ROUNDS; round += 1) await this.#requireFree();
  }

  async #requireFree(): Promise<void> {
    const { epoch, name } = this.#options;
    const others = await this.#others();
    if (!others.some((other) => other.isMember || other.epoch < epoch)) return;
    throw new ExecError(
      'invalidConfiguration',
      `A machine named "${name}" is in the fleet already. Choose another --name, or stop it first.`,
      { data: { name } },
    );
  }

  /** Begins to watch over the name. */
  watch(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS).unref();
  }

  /** Looks for a later machine of the same name. */
  async check(): Promise<void> {
    const { epoch, taken } = this.#options;
    const others = await this.#others();
    if (others.some((other) => other.isMember && other.epoch > epoch)) taken();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #others(): Promise<Claim[]> {
    const { bus, subject, inbox, epoch } = this.#options;
    return new Promise((resolve) => {
      const others: Claim[] = [];
      const subscription = bus.nats.subscribe(inbox, {
        callback: (error, message) => {
          const claim = error ? undefined : claimOf(message);
          if (claim && claim.epoch !== epoch) others.push(claim);
        },
      });
      bus.post(subject, new Uint8Array(0), { reply: inbox });
      setTimeout(() => {
        subscription.unsubscribe();
        resolve(others);
      }, ANSWER_MS);
    });
  }
}

function claimOf(message: { json(): unknown }): Claim | undefined {
  try {
    return Claim.safeParse(message.json()).data;
  } catch {
    return undefined;
  }
}
