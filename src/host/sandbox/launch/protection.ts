import { lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { type Disk, snapshotDisk } from '../plan/disk.js';
import type { FileView } from '../plan/file-view.js';
import { mountInside } from './enter-mounts.js';
import { type Mount, type MountPlan, planMounts } from '../plan/mount-plan.js';
import { mountsOf } from '../plan/mount-table.js';
import { watchNames } from './name-watch.js';
import { holdsPlace } from '../plan/open-handles.js';
import { pauseTree } from './paused-tree.js';
import { isAlive } from './process-state.js';
import { type FilePolicy, parentOf, type PathRule } from '../../../policy/internal.js';
import type { ChildKeeping, StoppedSandbox } from '../../spawn/index.js';
import type { SandboxStatus } from './status.js';

/** A name that is replaced more often than this while being protected is replaced on purpose. */
const MAX_FAILURES = 16;

/**
 * A name that is removed is usually recreated: time to do so before an empty directory takes its place. Nothing inside
 * runs meanwhile.
 */
const GRACE_MS = 1_000;

interface Guarded {
  readonly files: FilePolicy;
  readonly plan: MountPlan;
  readonly disk: Disk;
  /** What the sandbox shows of the disk. */
  readonly view: FileView;
  readonly status: SandboxStatus;
  /** Blocks names that do not exist yet; returns the plan without those that need not be blocked. */
  readonly hold: (plan: MountPlan) => MountPlan;
  /** Told when everything inside is stopped, if it may outlive us. */
  readonly keeping?: Pick<ChildKeeping, 'stopping'> | undefined;
  /** An earlier server stopped it and died before it could continue it. */
  readonly stopped?: StoppedSandbox | undefined;
}

/**
 * Keeps protected paths protected while a sandbox exists. A mount belongs to the name it was made over: when a process
 * outside removes that name or replaces the file, the kernel drops the mount from every sandbox. So we watch those
 * names and restore lost mounts while everything inside is stopped. If that fails, the whole sandbox is killed.
 */
export class Protection {
  readonly #files: FilePolicy;
  readonly #status: SandboxStatus;
  readonly #view: FileView;
  readonly #hold: Guarded['hold'];
  readonly #keeping: Guarded['keeping'];
  #stopped: StoppedSandbox | undefined;
  readonly #names = new Map<string, Set<string>>();
  #plan: MountPlan;
  #unwatch: (() => void)[] = [];
  #onChange: () => void = () => {};
  #isDirty = false;
  #isBusy = false;
  #isClosed = false;

  private constructor({ files, plan, disk, view, status, hold, keeping, stopped }: Guarded) {
    this.#view = view;
    this.#files = withGlobMatches(files, plan);
    this.#plan = plan;
    this.#status = status;
    this.#hold = hold;
    this.#keeping = keeping;
    this.#stopped = stopped;
    this.#watch(plan, disk);
  }

  /** Null if there is nothing to lose. Create it before the sandbox is made. */
  static of(guarded: Guarded): Protection | null {
    const { plan } = guarded;
    return protectiveMounts(plan).length === 0 ? null : new Protection(guarded);
  }

  /** Looks for mounts that were lost while no server watched. */
  check(): void {
    this.#changed();
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
    for (const path of [...protectiveMounts(plan).map((mount) => mount.path), ...links]) this.#addNames(path);
    for (const [directory, names] of this.#names)
      this.#unwatch.push(watchNames(directory, { names, changed: () => this.#changed() }));
  }

  /** Every component of the path: replacing one of them replaces everything below. */
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
      // A sandbox that ended by itself has nothing left to protect.
      const init = await this.#status.untilSetUp();
      if (init !== null && isAlive(init)) this.#status.revoke();
    } finally {
      this.#isBusy = false;
    }
  }

  async #restore(): Promise<void> {
    const init = await this.#status.untilSetUp();
    if (init === null) return;
    const missing = [...missingMounts(this.#plan, init), ...missingMounts(this.#replan(), init)];
    if (missing.length === 0 && !this.#stopped) return;
    const { stoppedBefore, exposed = [] } = this.#stopped ?? {};
    const paused = pauseTree(this.#status, init, {
      stoppedBefore,
      begins: (pids) => {
        this.#stopped = { stoppedBefore: pids, exposed: [...exposed, ...placesOf(missing)] };
        this.#keeping?.stopping(this.#stopped);
      },
    });
    if (paused === null) throw new Error('it cannot be stopped');
    const restored = await this.#mountAgain(init);
    // Anything opened before the mount was restored would stay open behind it, and what is open for reading can be opened
    // for writing through `/proc/self/fd`. What was opened before the replacement is on the old mount, and does not count.
    if (holdsPlace(paused.pids, [...exposed, ...restored]))
      throw new Error('a process opened the path meanwhile');
    paused.resume();
    this.#stopped = undefined;
    this.#keeping?.stopping(null);
  }

  /** One at a time, since the next may be on top of it. Returns the paths that nothing inside may have open. */
  async #mountAgain(init: number): Promise<string[]> {
    const restored: string[] = [];
    const until = performance.now() + GRACE_MS;
    let failures = 0;
    for (;;) {
      const plan = this.#replan();
      const isAwaited =
        performance.now() < until &&
        missingMounts(plan, init).every(({ path }) => isFree(this.#view.reach(path)));
      if (isAwaited && (await this.#nextChange(until))) continue;
      this.#plan = this.#hold(plan);
      const [mount] = missingMounts(this.#plan, init);
      if (mount === undefined) return restored;
      restored.push(...placesOf([mount]));
      try {
        await mountInside(init, mount);
      } catch (error) {
        // It may have been replaced again in the meantime.
        failures += 1;
        if (failures === MAX_FAILURES) throw error;
      }
    }
  }

  /** False if there is no change by then. */
  #nextChange(until: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), until - performance.now());
      this.#onChange = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** The plan that protects the paths as they are now. Watches first, so that no later change is missed. */
  #replan(): MountPlan {
    const before = this.#unwatch;
    this.#unwatch = [];
    const disk = snapshotDisk(this.#view);
    this.#watch(this.#plan, disk);
    for (const stop of before) stop();
    return planMounts(this.#files, disk);
  }
}

/** What nothing inside may have open once these are in place. */
function placesOf(mounts: readonly Mount[]): string[] {
  return mounts.filter(({ kind }) => kind !== 'writable').map(({ path }) => path);
}

function isFree(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true;
  }
}

/** What patterns matched when the sandbox was made stays hidden under its name. Patterns are not searched for again. */
function withGlobMatches(files: FilePolicy, { mounts }: MountPlan): FilePolicy {
  if (files.kind === 'unrestricted') return files;
  const found = mounts
    .filter(({ kind }) => kind === 'hiddenFile' || kind === 'hiddenDirectory')
    .map(({ path }): PathRule => ({ path, access: 'none', whenMissing: 'skip' }));
  return { ...files, rules: [...files.rules, ...found], hidden: [] };
}

function rulesOf(files: FilePolicy): readonly PathRule[] {
  return files.kind === 'unrestricted' ? [] : files.rules;
}

/** The mounts that restrict access; without them programs would get more than the policy grants. */
function protectiveMounts({ mounts, accessAt }: MountPlan): Mount[] {
  return mounts.filter(({ kind, path }) => {
    if (kind === 'link') return false;
    return kind === 'hiddenFile' || kind === 'hiddenDirectory' || accessAt(parentOf(path)) === 'write';
  });
}

/** The protective mounts a sandbox lacks. */
function missingMounts(plan: MountPlan, init: number): Mount[] {
  const present = new Map(mountsOf(init).map(({ path, options }) => [path, options]));
  return protectiveMounts(plan).filter(({ kind, path }) => {
    const options = present.get(path);
    return options === undefined || (kind !== 'writable' && !options.includes('ro'));
  });
}
