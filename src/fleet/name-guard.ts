import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../protocol/errors.js';
import { isLater } from './age.js';
import type { Bus } from './bus/bus.js';
import { Machine } from './machine.js';
import type { Subjects } from './subjects.js';
import { z } from 'zod';

/** How long another machine may take to say that it has our name. */
const ANSWER_MS = 250;
/** How often to ask before a name is ours, and at most, if others want it, too. */
const CLAIM_ROUNDS = 2;
const MAX_CLAIM_ROUNDS = 8;
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
  readonly name: string;
  readonly epoch: number;
  /** How long this run has been there. */
  readonly upMs: () => number;
  readonly subjects: Subjects;
  /** Resolves to true if the registry confirms that nobody has entered this name after us. */
  readonly confirm: () => Promise<boolean>;
  /** Called when a later machine has taken our name. */
  readonly taken: () => void;
}

/**
 * Sees to it that a name means one machine. Whoever joins while another machine answers to the name is refused. Should two
 * have it all the same, because one of them did not answer for a while, the earlier one gives way: the registry knows which,
 * or else their ages tell. No wall clock decides.
 */
export class NameGuard {
  readonly #options: NameGuardOptions;
  /** Whoever has our name may answer in it, as we may. */
  readonly #inbox: string;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  /** Who else answers to the name, while we ask. */
  #others: Claim[] = [];
  #asking: Promise<readonly Claim[]> | undefined;
  #isListening = false;
  /** Somebody else wants the name, too, and has asked since we did. */
  #isWanted = false;

  constructor(options: NameGuardOptions) {
    const { subjects, name } = options;
    this.#options = options;
    this.#inbox = subjects.answer(name, name, randomBytes(8).toString('hex'));
  }

  /**
   * Fails if the name is taken. Of several that join at once, the one with the lowest number gets it. Whoever begins too late to
   * answer our last question asks one itself meanwhile, so we ask again; and if it asks after that, we are a member.
   */
  async claim(): Promise<void> {
    const { epoch, name } = this.#options;
    for (let round = 1; round <= CLAIM_ROUNDS || (this.#isWanted && round <= MAX_CLAIM_ROUNDS); round += 1) {
      this.#isWanted = false;
      const others = await this.#askOthers();
      if (!others.some((other) => other.isMember || other.epoch < epoch)) continue;
      throw new ExecError(
        'invalidConfiguration',
        `A machine named "${name}" is in the fleet already. Choose another --name, or stop it first.`,
        { data: { name } },
      );
    }
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
    if (reply === this.#inbox) return;
    const { subjects, name } = this.#options;
    if (reply?.startsWith(subjects.answer(name, name, ''))) this.#isWanted = true;
    if (!this.#timer) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.check();
    }, CHECK_SOON_MS).unref();
  }

  /** Looks for a later machine of the same name. */
  async check(): Promise<void> {
    const { epoch, upMs, confirm, taken } = this.#options;
    const own = { epoch, upMs: upMs() };
    const rivals = (await this.#askOthers()).filter(({ isMember }) => isMember);
    if (rivals.length === 0 || (await confirm()) || !this.#timer) return;
    // There is no registry, or it does not answer.
    if (rivals.some((rival) => isLater(rival, own))) taken();
  }

  /** Somebody has entered the name into the registry after us. Resolves to true, and gives the name up, if they are still there. */
  async overtaken(): Promise<boolean> {
    const { epoch, taken } = this.#options;
    const rivals = (await this.#askOthers()).filter(({ isMember }) => isMember);
    // An older version overwrites what others have entered.
    if (!rivals.some((rival) => rival.upMs !== undefined || rival.epoch > epoch)) return false;
    taken();
    return true;
  }

  /** Whether another run of this machine answers, which may be the later one. */
  async isThere(epoch: number): Promise<boolean> {
    const others = await this.#askOthers();
    if (others.some(({ isMember }) => isMember)) this.asked(undefined);
    return others.some((other) => other.epoch === epoch);
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
  }

  #askOthers(): Promise<readonly Claim[]> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<readonly Claim[]> {
    const { bus, subjects, name } = this.#options;
    this.#listen();
    this.#others = [];
    bus.post(subjects.whoIs(name), new Uint8Array(0), { reply: this.#inbox });
    await pause(ANSWER_MS);
    return this.#others;
  }

  /** Once: each new subscription has to be made known to all NATS nodes. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const { bus, epoch } = this.#options;
    bus.listen(this.#inbox, (message) => {
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
