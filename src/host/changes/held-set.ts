import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../protocol/errors.js';
import { isScarcity, tryLock } from '../kernel/index.js';
import { type HeldView, isPathChange, openExactly } from '../sandbox/index.js';
import { openDirectory } from './accessible.js';
import { Bases } from './bases.js';
import { Epochs } from './epochs.js';
import { type Company, FreshView } from './fresh-view.js';
import { HeldMounts, type MountMeans } from './held-mounts.js';
import type { HeldRoots } from './held-roots.js';
import type { ToMount } from './mounting.js';
import { isCovered, mountedPlaces } from './mounted-places.js';
import { makeLayers } from './new-layers.js';
import { type FoundChange, type Layers, scan, type ScanResult } from './scan.js';
import { type MeteredSet, SetMeter } from './set-meter.js';
import { type SetRecord, writeRecord } from './set-record.js';
import { SetTurns } from './set-turns.js';
import { directoryGone, isGoneUnused } from './vanished-root.js';

/** What a client was told has ended may still be counted. */
const JUST_ENDED_MS = 500;
const LOOK_AGAIN_MS = 10;

/** One directory of a set, with what has changed in it. */
export interface ScannedRoot extends ScanResult {
  readonly root: number;
  /** Absolute. */
  readonly path: string;
  /** Changes in places where something else is mounted by now. */
  readonly covered: ReadonlySet<FoundChange>;
}

/** Holds descriptors of one set for the server that comes after this one. */
export interface SetKeeping {
  hold(descriptors: Readonly<Record<string, number>>): void;
  letGo(): void;
}

/** A set of held changes on disk. */
export class HeldSet {
  readonly directory: string;
  /** Keeps it from growing without bound. */
  readonly meter: SetMeter;
  readonly turns = new SetTurns();
  readonly #fresh = new FreshView(() => this.#epochs);
  readonly #keeping: SetKeeping | undefined;
  #isKept = false;
  #record: SetRecord;
  #mounts: HeldMounts | null = null;
  #lock: number | null = null;
  #knownBases: Bases | undefined;
  #knownEpochs: Epochs | undefined;
  #users = 0;
  /** Those of them whose program has ended. */
  #leaving = 0;
  #idle: (() => void)[] = [];

  constructor(
    directory: string,
    record: SetRecord,
    { keeping, ...bounds }: Pick<MeteredSet, 'largest' | 'grown'> & { keeping?: SetKeeping | undefined },
  ) {
    this.directory = directory;
    this.#record = record;
    this.#keeping = keeping;
    this.meter = new SetMeter({ directory, roots: () => this.#record.roots.length, ...bounds });
  }

  /** Continues with the mounts and the lock of an earlier server, whose programs go on. Owns the descriptors. */
  adopt({ lock, ...mounts }: Readonly<Record<string, number>>): void {
    if (lock === undefined) throw new Error('the lock of its changes is missing');
    this.#mounts = HeldMounts.adopt(this.#record.changesId, mounts, this.#places);
    this.#lock = lock;
    this.#isKept = true;
  }

  /** The files as a program sees them that an earlier server has started. Call `leave` when it has ended. */
  reenter(mountPoints: readonly string[]): HeldView {
    if (this.#mounts === null) throw new Error('its files are not mounted');
    this.#users += 1;
    return this.#mounts.view(mountPoints);
  }

  /** True if anybody uses it, or an ended program is about to leave. */
  get isInUse(): boolean {
    return this.#users > 0;
  }

  get record(): SetRecord {
    return this.#record;
  }

  /** How many programs run in it. */
  get running(): number {
    return this.#users - this.#leaving;
  }

  get bases(): Bases {
    return (this.#knownBases ??= new Bases(join(this.directory, 'bases'), this.#epochs));
  }

  get #epochs(): Epochs {
    return (this.#knownEpochs ??= new Epochs(join(this.directory, 'epochs')));
  }

  get journal(): string {
    return join(this.directory, 'journal.json');
  }

  /** True while changes are being applied, and after a server was killed while it did that. */
  get isUnfinished(): boolean {
    return existsSync(this.journal);
  }

  /** Throws if another process uses the set. */
  lock(): void {
    if (this.#lock !== null) return;
    const fd = openSync(join(this.directory, 'lock'), 'a', 0o600);
    if (!tryLock(fd, 'exclusive')) {
      closeSync(fd);
      throw inUse('Another server or command uses these changes.');
    }
    this.#lock = fd;
  }

  /**
   * The files as a program sees them that may use these directories; undefined if they are as they are. Call `leave` when
   * it has ended. `isBrief`: it is a file operation.
   */
  async enter(
    { roots, mountPoints }: HeldRoots,
    { isBrief, ...means }: MountMeans & Pick<Company, 'isBrief'>,
  ): Promise<HeldView | undefined> {
    this.lock();
    await this.#leaveReplaced();
    const { running } = this;
    this.#users += 1;
    try {
      if (roots.length === 0) return undefined;
      for (const path of roots) this.#addRoot(path);
      const wanted = inOrder(
        this.#places.filter(({ path }) => roots.includes(path)),
        roots,
      );
      const mounts = await this.#mount(wanted, means).catch(async (error: unknown) => {
        // Something has been mounted since, which its namespaces do not show. New ones do.
        if (!isPathChange(error) || this.#users > 1) throw error;
        await this.release();
        this.lock();
        return await this.#mount(wanted, means);
      });
      await this.#fresh.beforeEntering(mounts, means, { running, isBrief });
      return mounts.view(mountPoints);
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Mounts show the directories that were there when they were made. */
  async #leaveReplaced(): Promise<void> {
    const path = this.#mounts?.replaced();
    if (path === undefined) return;
    await this.untilIdle(
      `${path} has been replaced, which programs that run in this set do not see; end them first.`,
    );
    await this.release();
    this.lock();
  }

  async #mount(wanted: readonly ToMount[], means: MountMeans): Promise<HeldMounts> {
    this.#mounts ??= new HeldMounts(this.#record.changesId);
    if (await this.#mounts.add(wanted, means)) this.#isKept = false;
    this.#keep(this.#mounts);
    return this.#mounts;
  }

  /** Its program has ended, and its sandbox is about to. */
  leaving(): void {
    this.#leaving += 1;
  }

  leave({ announced = false }: { announced?: boolean } = {}): void {
    this.#users -= 1;
    if (announced) this.#leaving -= 1;
    if (this.#users > 0) return;
    for (const wake of this.#idle.splice(0)) wake();
    if (announced && this.#mounts) this.#fresh.afterwards(this.#mounts);
  }

  /** Resolves when nobody uses it. Throws if a program still runs. */
  async untilIdle(otherwise = 'Programs still run in this set; end them first.'): Promise<void> {
    const deadline = performance.now() + JUST_ENDED_MS;
    while (this.#users > this.#leaving && performance.now() < deadline) await pause(LOOK_AGAIN_MS);
    if (this.#users > this.#leaving) throw inUse(otherwise);
    if (this.#users > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Identifies the mounts, if there are any. */
  get viewId(): string | null {
    return this.#mounts?.id ?? null;
  }

  /** Finds all changes, and remembers what was below them. */
  async scan(): Promise<ScannedRoot[]> {
    const found: ScannedRoot[] = [];
    for (const [root, { path, heldSinceNs, attributes }] of this.#record.roots.entries()) {
      if (isGoneUnused(path, this.#upper(root))) continue;
      const layers = this.openLayers(root);
      try {
        const result = await scan(layers, attributes, { isQuiet: () => this.#isQuiet });
        this.bases.note(root, result.changes, BigInt(heldSinceNs));
        const places = mountedPlaces(path);
        const covered = new Set(result.changes.filter((change) => isCovered(change, places)));
        found.push({ root, path, ...result, covered });
      } finally {
        closeLayers(layers);
      }
    }
    return found;
  }

  /** True if no program can change anything: none of ours, nor of another process. */
  get #isQuiet(): boolean {
    return this.#users === 0 && this.#lock !== null;
  }

  /** Both layers of a root. The caller closes them. */
  openLayers(root: number): Layers {
    const path = this.#record.roots[root]?.path ?? '';
    const upper = openDirectory(this.#upper(root));
    try {
      const base = openExactly(path);
      return { upper, base, device: fstatSync(base, { bigint: true }).dev };
    } catch (error) {
      closeSync(upper);
      if (!isPathChange(error)) throw error;
      const { cause } = error as Error;
      throw isScarcity(cause) ? cause : directoryGone(path);
    }
  }

  /** Ends whatever uses its files beside programs, then closes it. */
  async release(): Promise<void> {
    await this.#mounts?.endUses();
    await this.#fresh.untilIdle();
    this.close();
  }

  /** Unmounts everything. Other processes may use the set then. Idempotent. */
  close(): void {
    this.#mounts?.close();
    this.#mounts = null;
    if (this.#lock !== null) closeSync(this.#lock);
    this.#lock = null;
    if (this.#isKept) this.#keeping?.letGo();
    this.#isKept = false;
  }

  /** Throws if nobody keeps them: then nothing may be started that could outlive us. */
  #keep(mounts: HeldMounts): void {
    if (this.#isKept || this.#lock === null) return;
    this.#keeping?.hold({ lock: this.#lock, ...mounts.descriptors(this.#places) });
    this.#isKept = true;
  }

  #upper(root: number): string {
    return join(this.directory, String(root), 'upper');
  }

  /** Where the layers of each root are. */
  get #places(): ToMount[] {
    return this.#record.roots.map(({ path }, index) => ({
      path,
      place: join(this.directory, String(index)),
    }));
  }

  #addRoot(path: string): void {
    if (this.#record.roots.some((root) => root.path === path)) return;
    const root = makeLayers(join(this.directory, String(this.#record.roots.length)), path);
    this.#record = { ...this.#record, roots: [...this.#record.roots, root] };
    writeRecord(this.directory, this.#record);
  }
}

function inOrder(places: readonly ToMount[], paths: readonly string[]): ToMount[] {
  return places.toSorted((a, b) => paths.indexOf(a.path) - paths.indexOf(b.path));
}

export function closeLayers({ upper, base }: Layers): void {
  for (const fd of [upper, base]) closeSync(fd);
}

export function inUse(message: string): ExecError {
  return new ExecError('changesInUse', message);
}
