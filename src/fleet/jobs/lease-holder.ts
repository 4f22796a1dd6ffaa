import { setTimeout as pause } from 'node:timers/promises';
import { isExecError } from '../../protocol/errors.js';
import { sinceBootMs } from '../age.js';
import type { RunningState } from './job-records.js';
import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';
import type { LeaseGuard } from './lease-guard.js';

/** Renewals in the time of a lease. */
const RENEWALS = 6;
/**
 * The part of a lease after which a machine that could not renew it ends the program: no other may start it before the lease has
 * run out.
 */
const HELD_PART = 1 / 2;

/** When JetStream does not answer, or the node that was asked is behind the others. */
const TRY_AGAIN_MS = 200;
const BEHIND_MS = 20;

export interface LeaseHolderOptions {
  readonly store: JobStore;
  readonly key: JobKey;
  readonly running: RunningState;
  /** Called once, if the lease is broken or could not be renewed in time. */
  readonly lost: () => void;
  /** Milliseconds, by a clock that also goes on while this machine is asleep: for others, the lease runs out meanwhile. */
  readonly now?: () => number;
}

/** The lease of a job that this machine runs. It counts from when a renewal was sent, not from when it was confirmed. */
export class JobLeaseHolder {
  readonly #options: LeaseHolderOptions;
  readonly #over = new AbortController();
  readonly #heldMs: number;
  readonly #now: () => number;
  #seq = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #isBroken = false;
  #expiry: NodeJS.Timeout | undefined;
  #guarded: { guard: LeaseGuard; tree: string } | undefined;

  constructor(options: LeaseHolderOptions) {
    this.#options = options;
    this.#heldMs = options.running.leaseMs * HELD_PART;
    this.#now = options.now ?? sinceBootMs;
  }

  /**
   * Takes the lease, and renews it from now on, for any length of time: no other machine begins before the lease is broken.
   * Resolves to false if that has happened, or the lease is not wanted any more.
   */
  async take(isWanted: () => boolean): Promise<boolean> {
    for (let first = true; isWanted(); first = false) {
      try {
        if (!(await this.#hold(first))) return false;
        void this.#renew();
        return true;
      } catch (error) {
        if (!isExecError(error, 'notConnected')) throw error;
        await pause(TRY_AGAIN_MS);
      }
    }
    return false;
  }

  /** Resolves to false if the lease is broken. Fails if JetStream does not answer. */
  async #hold(isFirst: boolean): Promise<boolean> {
    const { store, key, running } = this.#options;
    if (isFirst && running.attempt > 1) this.#seq = (await store.lease(key)).seq;
    while (!this.#isBroken) {
      if (await this.#write()) return true;
      const { record, seq } = await store.lease(key);
      if (record?.broken && record.attempt >= running.attempt) return false;
      if (record && record.attempt > running.attempt) return false;
      // The node that was asked may be behind the others.
      await pause(BEHIND_MS);
      this.#seq = seq;
    }
    return false;
  }

  /** False once others may have given the attempt up. */
  get isHeld(): boolean {
    return !this.#isBroken && this.#now() - this.#sentAt < this.#heldMs;
  }

  /** Lets another process end a tree should this one be unable to. */
  guard(guard: LeaseGuard, tree: string): void {
    this.#guarded = { guard, tree };
    this.#tellGuard();
  }

  release(): void {
    this.#over.abort();
    clearTimeout(this.#expiry);
    this.#guarded?.guard.clear(this.#guarded.tree);
  }

  async #renew(): Promise<void> {
    const { signal } = this.#over;
    const interval = this.#options.running.leaseMs / RENEWALS;
    for (;;) {
      await pause(interval, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || this.#isBroken) return;
      // Timers stand still while the machine is asleep, and others may have begun by now.
      if (!this.isHeld) return this.#lose();
      try {
        if (await this.#hold(false)) continue;
        return this.#lose();
      } catch {
        // If this continues, the expiry ends the program.
      }
    }
  }

  /** Resolves to false if another machine has the lease. */
  async #write(): Promise<boolean> {
    const { store, key, running } = this.#options;
    const { attempt, epoch, leaseMs } = running;
    const sentAt = this.#now();
    const options = { after: this.#seq, patienceMs: leaseMs / RENEWALS };
    const seq = await store.writeLease(key, { attempt, epoch }, options);
    if (seq === null) return false;
    this.#seq = seq;
    this.#sentAt = sentAt;
    clearTimeout(this.#expiry);
    if (this.#over.signal.aborted) return true;
    const left = sentAt + this.#heldMs - this.#now();
    this.#expiry = setTimeout(() => this.#lose(), Math.max(0, left)).unref();
    this.#tellGuard();
    return true;
  }

  #tellGuard(): void {
    if (this.#over.signal.aborted) return;
    this.#guarded?.guard.set(this.#guarded.tree, this.#sentAt + this.#heldMs - this.#now());
  }

  #lose(): void {
    if (this.#isBroken || this.#over.signal.aborted) return;
    this.#isBroken = true;
    this.#options.lost();
  }
}
