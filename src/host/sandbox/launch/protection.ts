import { lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { type Disk, snapshotDisk } from '../plan/disk.js';
import { mountInside } from './enter-mounts.js';
import { type Mount, type MountPlan, planMounts } from '../plan/mount-plan.js';
import { mountsOf } from '../plan/mount-table.js';
import { watchNames } from './name-watch.js';
import { holdsPlace } from '../plan/open-handles.js';
import { pauseTree } from './paused-tree.js';
import { isAlive } from './process-state.js';
import { type FilePolicy, parentOf, type PathRule } from '../../../policy/internal.js';
import type { SandboxStatus } from './status.js';

/** Whoever replaces a name more often than this while it is being protected does so on purpose. */
const MAX_FAILURES = 16;

/** Who removes a name mostly makes it anew: time to do so before an empty directory takes it. Nothing inside runs meanwhile. */
const GRACE_MS = 1_000;

interface Guarded {
  readonly files: FilePolicy;
  readonly plan: MountPlan;
  readonly disk: Disk;
  readonly status: SandboxStatus;
  /** Keeps names from being used that do not exist; gives the plan without those that need not be kept. */
  readonly hold: (plan: MountPlan) => MountPlan;
}

/**
 * Keeps protected places protected while a sandbox exists. A mount goes with the name it was made over: when somebody outside
 * removes that name, or puts another file there, the kernel takes the mount away from every sandbox. So such names are
 * watched; what lost its mount gets another one, and nobody inside runs meanwhile. Where that fails, all of it ends.
 */
export class Protection {
  readonly #files: FilePolicy;
  readonly #status: SandboxStatus;
  readonly #hold: Guarded['hold'];
  readonly #names = new Map<string, Set<string>>();
  #plan: MountPlan;
  #unwatch: (() => void)[] = [];
  #onChange: () => void = () => {};
  #isDirty = false;
  #isBusy = false;
  #isClosed = false;

  private constructor({ files, plan, disk, status, hold }: Guarded) {
    this.#files = withFound(files, plan);
    this.#plan = plan;
    this.#status = status;
    this.#hold = hold;
    this.#watch(plan, disk);
  }

  /** Null where there is nothing that could be lost. Begin before the sandbox is made. */
  static of(guarded: Guarded): Protection | null {
    const { plan } = guarded;
    return protecting(plan).length === 0 ? null : new Protection(guarded);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
  }

  #watch(plan: MountPlan, disk: Disk): void {
    const taken = rulesOf(this.#files).filter(({ access }) => access !== 'write');
    const paths = [...taken.map(({ path }) => path), ...disk.ownPlaces()];
    const links = paths.flatMap((path) => disk.resolve(path).links).map(({ path }) => path);
    for (const path of [...protecting(plan).map((mount) => mount.path), ...links]) this.#addNames(path);
    for (const [directory, names] of this.#names)
      this.#unwatch.push(watchNames(directory, { names, changed: () => this.#changed() }));
  }

  /** Every part of the path: whoever replaces one of them replaces what is below. */
  #addNames(path: string): void {
    for (let at = path; at !== '/'; at = parentOf(at)) {
      const names = this.#names.get(parentOf(at)) ?? new Set();
      this.#names.set(parentOf(at), names.add(posix.basename(at)));
    }
  }

  #stopWatching(): void {
    for (const stop of this.#unwatch) stop();
    this.#unwatch = [];
  }

  #changed(): void {
    this.#isDirty = true;
    this.#onChange();
    if (!this.#isBusy) void this.#settle();
  }

  async #settle(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#isDirty && !this.#isClosed) {
        this.#isDirty = false;
        await this.#restore();
      }
    } catch {
      // One that ended by itself in the meantime has nothing left to protect.
      const init = await this.#status.untilSetUp();
      if (init !== null && isAlive(init)) this.#status.revoke();
    } finally {
      this.#isBusy = false;
    }
  }

  async #restore(): Promise<void> {
    const init = await this.#status.untilSetUp();
    if (init === null) return;
    if (missing(this.#plan, init).length === 0 && missing(this.#replan(), init).length === 0) return;
    const paused = pauseTree(init);
    if (paused === null) throw new Error('it cannot be stopped');
    const restored = await this.#mountAgain(init);
    // What was opened before the mount was back would stay open behind it.
    if (holdsPlace(paused.pids, restored)) throw new Error('somebody got in meanwhile');
    paused.resume();
  }

  /** One at a time, as the next may lie on it. Gives the places that nobody inside should have open. */
  async #mountAgain(init: number): Promise<string[]> {
    const restored: string[] = [];
    const until = performance.now() + GRACE_MS;
    let failures = 0;
    for (;;) {
      const plan = this.#replan();
      const isAwaited = performance.now() < until && missing(plan, init).every(({ path }) => isFree(path));
      if (isAwaited && (await this.#nextChange(until))) continue;
      this.#plan = this.#hold(plan);
      const [mount] = missing(this.#plan, init);
      if (mount === undefined) return restored;
      if (mount.kind !== 'writable') restored.push(mount.path);
      try {
        await mountInside(init, mount);
      } catch (error) {
        // It may have been replaced again while we were at it.
        failures += 1;
        if (failures === MAX_FAILURES) throw error;
      }
    }
  }

  /** False if there is none until then. */
  #nextChange(until: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), until - performance.now());
      this.#onChange = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** What protects the places as they are now. Watches first, so that no later change is missed. */
  #replan(): MountPlan {
    const before = this.#unwatch;
    this.#unwatch = [];
    const disk = snapshotDisk();
    this.#watch(this.#plan, disk);
    for (const stop of before) stop();
    return planMounts(this.#files, disk);
  }
}

function isFree(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true;
  }
}

/** What patterns found when the sandbox was made stays hidden under its name. They are not searched for again. */
function withFound(files: FilePolicy, { mounts }: MountPlan): FilePolicy {
  if (files.kind === 'unrestricted') return files;
  const found = mounts
    .filter(({ kind }) => kind === 'hiddenFile' || kind === 'hiddenDirectory')
    .map(({ path }): PathRule => ({ path, access: 'none', whenMissing: 'skip' }));
  return { ...files, rules: [...files.rules, ...found], hidden: [] };
}

function rulesOf(files: FilePolicy): readonly PathRule[] {
  return files.kind === 'unrestricted' ? [] : files.rules;
}

/** The mounts that take something away; without one of them there would be more than the policy grants. */
function protecting({ mounts, accessAt }: MountPlan): Mount[] {
  return mounts.filter(({ kind, path }) => {
    if (kind === 'link') return false;
    return kind === 'hiddenFile' || kind === 'hiddenDirectory' || accessAt(parentOf(path)) === 'write';
  });
}

/** Those of them that a sandbox lacks. */
function missing(plan: MountPlan, init: number): Mount[] {
  const present = new Map(mountsOf(init).map(({ path, options }) => [path, options]));
  return protecting(plan).filter(({ kind, path }) => {
    const options = present.get(path);
    return options === undefined || (kind !== 'writable' && !options.includes('ro'));
  });
}
