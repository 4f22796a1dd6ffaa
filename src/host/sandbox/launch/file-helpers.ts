import { ExecError } from '../../../protocol/errors.js';
import { type ConfinedView, FileHelper, type HelperOptions } from './file-helper.js';
import { planNow } from '../plan/known-plans.js';
import type { MountPlan } from '../plan/mount-plan.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import type { HeldView } from '../plan/file-view.js';
import { idleMsOf, viewIdentity } from './view-identity.js';

/** Each is a Node process of about 50 MB. */
const MAX_HELPERS = 4;

/** Overrides for the limits of a pool. */
export interface PoolLimits {
  readonly maxHelpers?: number;
  readonly idleMs?: number;
}

interface Slot {
  readonly key: string;
  readonly helper: FileHelper;
  readonly idleMs: number;
  /** Callers with state inside, such as open files. */
  leases: number;
  timer: NodeJS.Timeout | undefined;
}

/** A helper that is kept while something inside it is in use, such as an open file. */
export interface HelperLease {
  call(method: string, args: readonly unknown[]): Promise<unknown>;
  /** Idempotent. */
  release(): void;
}

/** Keeps a few confined helpers running, one per view of the disk. */
export class FileHelpers {
  readonly #options: HelperOptions;
  readonly #limits: Required<PoolLimits>;
  /** Least recently used first. */
  readonly #slots = new Map<string, Slot>();

  constructor(options: HelperOptions, limits: PoolLimits = {}) {
    this.#options = options;
    this.#limits = { maxHelpers: MAX_HELPERS, idleMs: Number.POSITIVE_INFINITY, ...limits };
  }

  /** Calls a method of the target under a policy. */
  async call(policy: ConfinedPolicy, method: string, args: readonly unknown[]): Promise<unknown> {
    const lease = this.lease(policy);
    try {
      return await lease.call(method, args);
    } finally {
      lease.release();
    }
  }

  /** Reserves the helper of a policy for a series of calls. */
  lease(policy: ConfinedPolicy, view: ConfinedView = {}): HelperLease {
    const slot = this.#slotFor(policy, view);
    slot.leases += 1;
    clearTimeout(slot.timer);
    let released = false;
    return {
      call: (method, args) => slot.helper.call(method, args),
      release: () => {
        if (released) return;
        released = true;
        slot.leases -= 1;
        this.#rest(slot);
      },
    };
  }

  /** Ends all helpers. Idempotent. */
  async close(): Promise<void> {
    const slots = [...this.#slots.values()];
    for (const slot of slots) this.#end(slot);
    await Promise.all(slots.map(({ helper }) => helper.ended));
  }

  #slotFor(policy: ConfinedPolicy, { held, hidden }: ConfinedView): Slot {
    const { plan } = planNow(policy.files, held, hidden);
    const key = keyOf(plan, policy, held);
    const known = this.#slots.get(key);
    if (known?.helper.usable) {
      this.#slots.delete(key);
      this.#slots.set(key, known);
      return known;
    }
    this.#makeRoom();
    const helper = new FileHelper(policy, this.#options, { held, hidden });
    const idleMs = Math.min(this.#limits.idleMs, idleMsOf(plan));
    // Only now do the placeholders exist, and with them the view the next call will see.
    const slot: Slot = {
      key: keyOf(planNow(policy.files, held, hidden).plan, policy, held),
      helper,
      idleMs,
      leases: 0,
      timer: undefined,
    };
    this.#slots.set(slot.key, slot);
    const stayed = held?.onEnd(async () => {
      this.#end(slot);
      await helper.ended;
    }, plan.mounts);
    void helper.ended.then(stayed);
    return slot;
  }

  #makeRoom(): void {
    for (const slot of this.#slots.values()) if (!slot.helper.usable) this.#end(slot);
    if (this.#slots.size < this.#limits.maxHelpers) return;
    const idle = [...this.#slots.values()].find(({ leases }) => leases === 0);
    if (idle === undefined)
      throw new ExecError('overloaded', 'The limit on sandboxes for file operations has been reached.');
    this.#end(idle);
  }

  #rest(slot: Slot): void {
    if (slot.leases > 0) return;
    slot.timer = setTimeout(() => this.#end(slot), slot.idleMs);
    slot.timer.unref();
  }

  #end(slot: Slot): void {
    clearTimeout(slot.timer);
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
    slot.helper.close();
  }
}

function keyOf(plan: MountPlan, { unixSockets }: ConfinedPolicy, held: HeldView | undefined): string {
  return `${unixSockets} ${viewIdentity(plan, { held })}`;
}
