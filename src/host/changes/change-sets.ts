import { closeSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ChangesLimits } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { TimeSlice } from '../kernel/index.js';
import {
  type HeldView,
  hideFromSandboxes,
  mountTable,
  parseMountTable,
  planNow,
  policyOfRequest,
} from '../sandbox/index.js';
import { openDirectory } from './accessible.js';
import { finishApply } from './apply/apply.js';
import { removeTree } from './apply/remove-tree.js';
import type { Growth } from './growth-reports.js';
import { heldRoots } from './held-roots.js';
import { HeldSet, type SetKeeping } from './held-set.js';
import { type HeldUse, type KeptUse, type UseRequest, useOf } from './held-use.js';
import { folderName, isSetId, newSetId, requireSetId } from './set-id.js';
import { DEFAULT_LIMITS, type Size, sum } from './set-limits.js';
import { storedSize } from './set-size.js';
import {
  type ChangesLease,
  makePrivateDirectory,
  readRecord,
  type SetRecord,
  writeRecord,
} from './set-record.js';
import { changesSupport, changesUnavailable } from './support.js';

/** Where sets are, and how many there may be. */
export interface ChangeSetsOptions {
  /** Absolute. Programs in sandboxes never see it. */
  readonly directory: string;
  /** Default 256. */
  readonly maxSets?: number | undefined;
  /** How much room they may take. */
  readonly limits?: Partial<ChangesLimits> | undefined;
  /** Holds what a set needs for the server that comes after this one, by the folder of the set. */
  readonly keepingOf?: ((folder: string) => SetKeeping) | undefined;
}

const DEFAULT_MAX_SETS = 256;

type GrowthListener = (set: HeldSet, growth: Growth) => void;

/** All sets of held changes in one directory. */
export class ChangeSets {
  readonly #directory: string;
  readonly #maxSets: number;
  readonly #limits: ChangesLimits;
  readonly #keepingOf: ChangeSetsOptions['keepingOf'];
  readonly #sets = new Map<string, HeldSet>();
  readonly #listeners = new Set<GrowthListener>();
  /** Called before the mounts of a set go, to end what uses them beside programs. */
  #endView: (viewId: string) => Promise<void> = async () => {};

  constructor({ directory, maxSets = DEFAULT_MAX_SETS, limits = {}, keepingOf }: ChangeSetsOptions) {
    this.#directory = directory;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#keepingOf = keepingOf;
    this.#maxSets = maxSets;
    hideFromSandboxes(directory);
  }

  /** Whether changes can be held here. */
  support(): ReturnType<typeof changesSupport> {
    return changesSupport(this.#directory);
  }

  onEndView(end: (viewId: string) => Promise<void>): void {
    this.#endView = end;
  }

  /** Calls `listener` when a set may have grown. Returns an unsubscribe function. */
  watch(listener: GrowthListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the files of a set ready for a program under this policy. */
  async use(request: UseRequest): Promise<HeldUse> {
    const { sandbox, cwd, temporary } = request;
    const support = await this.support();
    const policy = policyOfRequest(sandbox, { cwd, temporary });
    if (policy.kind === 'open') throw nothingEnforced();
    // Before a set is made: there may be no place for it.
    if (!support.available) throw changesUnavailable(support);
    const set = this.#setFor(request);
    return await set.turns.entering(async () => {
      await finishApply(set);
      const { plan } = planNow(policy.files);
      const earlier = set.record.roots.map(({ path }) => path);
      const view = await set.enter(heldRoots(plan, parseMountTable(mountTable()), earlier), support);
      return this.#useOf(set, view);
    });
  }

  /**
   * The files of a program that an earlier server has started. `descriptors` are those of its set; they are taken if the set
   * has none yet. Throws if there is no such set.
   */
  takeUp({ folder, mountPoints }: KeptUse, descriptors: Readonly<Record<string, number>>): HeldUse {
    const set = this.#at(join(this.#directory, folder));
    if (set === null) throw new Error('its held changes are gone');
    if (set.viewId === null) set.adopt(descriptors);
    return this.#useOf(set, set.reenter(mountPoints));
  }

  /** True if the files of this set are mounted here. */
  isMounted(folder: string): boolean {
    return (this.#sets.get(join(this.#directory, folder))?.viewId ?? null) !== null;
  }

  #useOf(set: HeldSet, view: HeldView | undefined): HeldUse {
    return useOf(set, view, () => this.#tell(set, 'ended'));
  }

  #tell(set: HeldSet, growth: Growth): void {
    for (const listener of this.#listeners) listener(set, growth);
  }

  /** Throws `changesNotFound`. */
  find(changesId: string, owners: readonly string[]): HeldSet {
    const found = this.#lookUp(changesId, owners);
    if (found === null)
      throw new ExecError('changesNotFound', 'There are no held changes with this id.', {
        data: { changesId },
      });
    return found;
  }

  /** All sets of these owners, oldest first. */
  list(owners: readonly string[]): HeldSet[] {
    return this.#all()
      .filter(({ record }) => owners.includes(record.owner))
      .toSorted((a, b) => a.record.createdAtMs - b.record.createdAtMs);
  }

  /** Forgets a set and everything in it. */
  async discard(set: HeldSet): Promise<void> {
    await set.turns.alone(async () => {
      await set.untilIdle();
      set.lock();
      await this.release(set);
      await set.meter.close();
      await this.#remove(set.directory);
      this.#sets.delete(set.directory);
    });
  }

  /** Unmounts the files of a set that no program uses. */
  async release(set: HeldSet): Promise<void> {
    if (set.viewId !== null) await this.#endView(set.viewId);
    set.close();
  }

  /** The session of these sets is over. */
  async ownerGone(owner: string): Promise<void> {
    const sets = this.#all().filter(({ record }) => record.owner === owner && record.lease === 'session');
    await Promise.all(sets.map((set) => this.discard(set).catch(() => undefined)));
  }

  /** Finishes what a killed server was doing, and forgets sets whose session went with it. `lives`: of an owner. */
  async recover({ lives = () => false }: { lives?: (owner: string) => boolean } = {}): Promise<void> {
    for (const set of this.#all()) {
      if (set.isInUse) continue;
      try {
        set.lock();
      } catch {
        // A server that is alive uses it.
        continue;
      }
      if (set.record.lease === 'session' && !lives(set.record.owner))
        await this.discard(set).catch(() => undefined);
      else
        await set.turns
          .alone(() => finishApply(set))
          .catch(() => undefined)
          .finally(() => set.close());
    }
  }

  /** Unmounts everything. Idempotent. */
  async close(): Promise<void> {
    const sets = [...this.#sets.values()];
    this.#sets.clear();
    for (const set of sets) set.close();
    await Promise.all(sets.map(({ meter }) => meter.close()));
  }

  #setFor({ sandbox, owner, owners }: UseRequest): HeldSet {
    const changesId = sandbox.changesId ?? newSetId();
    return (
      this.#lookUp(changesId, owners) ?? this.#create(changesId, owner, sandbox.changesLease ?? 'session')
    );
  }

  #create(changesId: string, owner: string, lease: ChangesLease): HeldSet {
    requireSetId(changesId);
    if (this.#folders().length >= this.#maxSets)
      throw new ExecError(
        'changesFull',
        'There are as many sets of held changes as there may be; discard some.',
      );
    makePrivateDirectory(this.#directory);
    const directory = join(this.#directory, folderName(changesId, owner));
    mkdirSync(directory, { mode: 0o700 });
    const record: SetRecord = {
      version: 1,
      changesId,
      owner,
      lease,
      createdAtMs: Date.now(),
      settledNs: `${Date.now()}000000`,
      roots: [],
    };
    writeRecord(directory, record);
    const set = this.#setIn(directory, record);
    // A session ends with its server, and so does its set: nobody else may think that it is abandoned.
    set.lock();
    this.#sets.set(directory, set);
    return set;
  }

  #lookUp(changesId: string, owners: readonly string[]): HeldSet | null {
    if (!isSetId(changesId)) return null;
    for (const owner of owners) {
      const found = this.#at(join(this.#directory, folderName(changesId, owner)));
      if (found) return found;
    }
    return null;
  }

  #at(directory: string): HeldSet | null {
    const known = this.#sets.get(directory);
    if (known) return known;
    const record = readRecord(directory);
    if (record === null) return null;
    const set = this.#setIn(directory, record);
    this.#sets.set(directory, set);
    return set;
  }

  #setIn(directory: string, record: SetRecord): HeldSet {
    const others = (): Size => this.#sizeWithout(directory);
    const set: HeldSet = new HeldSet(directory, record, {
      limits: this.#limits,
      others,
      grown: () => this.#tell(set, 'larger'),
      keeping: this.#keepingOf?.(basename(directory)),
    });
    return set;
  }

  #sizeWithout(directory: string): Size {
    const all = this.#folders().map((name) => join(this.#directory, name));
    return sum(all.filter((each) => each !== directory).map(storedSize));
  }

  #all(): HeldSet[] {
    return this.#folders().flatMap((name) => this.#at(join(this.#directory, name)) ?? []);
  }

  #folders(): string[] {
    try {
      return readdirSync(this.#directory).filter((name) => !name.startsWith('.'));
    } catch {
      return [];
    }
  }

  async #remove(directory: string): Promise<void> {
    const parent = openDirectory(this.#directory);
    try {
      await removeTree(parent, directory.slice(this.#directory.length + 1), new TimeSlice());
    } finally {
      closeSync(parent);
    }
  }
}

function nothingEnforced(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'Changes can be held only under a policy that restricts files.',
    {
      data: {
        reason: 'changesNoPolicy',
        hint: 'Name a policy that lets programs write to certain directories.',
      },
    },
  );
}
