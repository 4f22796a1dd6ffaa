import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../protocol/errors.js';
import type { Bus } from './bus/bus.js';
import { Machine } from './machine.js';
import { z } from 'zod';

/** How long another machine may take to say that it has our name. */
const ANSWER_MS = 250;
/** How often to ask before a name is ours. */
const CLAIM_ROUNDS = 2;
/** How often to make sure that nobody else has it: rarely, because whoever wants a name asks for it, which we hear. */
const CHECK_INTERVAL_MS = 60_000;
/** How soon after somebody has asked for it: by then, they have it or were refused. */
const CHECK_SOON_MS = 2_000;

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
  #soon: NodeJS.Timeout | undefined;
  /** Who else answers to the name, while we ask. */
  #others: Claim[] = [];
  #isListening = false;

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
    const others = await this.#askOthers();
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

  /**
   * Somebody has asked who has this name. If we could not answer in time, because this machine stood still, it may be
   * theirs by now.
   */
  asked(reply: string | undefined): void {
    if (reply === this.#options.inbox || !this.#timer) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.check();
    }, CHECK_SOON_MS).unref();
  }

  /** Looks for a later machine of the same name. */
  async check(): Promise<void> {
    const { epoch, taken } = this.#options;
    const others = await this.#askOthers();
    if (others.some((other) => other.isMember && other.epoch > epoch)) taken();
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
  }

  async #askOthers(): Promise<Claim[]> {
    const { bus, subject, inbox } = this.#options;
    this.#listen();
    this.#others = [];
    bus.post(subject, new Uint8Array(0), { reply: inbox });
    await pause(ANSWER_MS);
    return this.#others;
  }

  /** Once: each new subscription has to be made known to all NATS nodes. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const { bus, inbox, epoch } = this.#options;
    bus.listen(inbox, (message) => {
      const claim = claimOf(message);
      if (claim && claim.epoch !== epoch) this.#others.push(claim);
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
