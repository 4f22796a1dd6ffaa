import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ChangesLimits } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import {
  findHidden,
  type HeldView,
  hideFromSandboxes,
  hostView,
  mountTable,
  parseMountTable,
  planNow,
  policyOfRequest,
} from '../sandbox/index.js';
import { finishApply } from './apply/apply.js';
import type { Growth } from './growth-reports.js';
import { heldRoots } from './held-roots.js';
import { HeldSet, type SetKeeping } from './held-set.js';
import { type HeldUse, type KeptUse, type UseRequest, useOf } from './held-use.js';
import { finishRemovals, removeSet } from './remove-set.js';
import { folderName, isSetId, newSetId, requireSetId } from './set-id.js';
import { DEFAULT_LIMITS, largestSize, shareOf, type Size, sum } from './set-limits.js';
import { storedSize } from './set-size.js';
import { makePrivateDirectory, readRecord, type SetRecord, writeRecord } from './set-record.js';
import { changesSupport, changesUnavailable } from './support.js';
import { setGone } from './vanished-root.js';

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

type NewSet = Pick<SetRecord, 'changesId' | 'owner' | 'share' | 'lease'>;

type GrowthListener = (set: HeldSet, growth: Growth) => void;

/** All sets of held changes in one directory. */
export class ChangeSets {
  readonly #directory: string;
  readonly #maxSets: number;
  readonly #limits: ChangesLimits;
  readonly #keepingOf: ChangeSetsOptions['keepingOf'];
  readonly #sets = new Map<string, HeldSet>();
  readonly #listeners = new Set<GrowthListener>();

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

  /** Calls `listener` when a set may have grown. Returns an unsubscribe function. */
  watch(listener: GrowthListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the files of a set ready for a program under this policy. */
  async use(request: UseRequest): Promise<HeldUse> {
    const { sandbox, cwd, temporary, isBrief = false } = request;
    const support = await this.support();
    const policy = policyOfRequest(sandbox, { cwd, temporary });
    if (policy.kind === 'open') throw nothingEnforced();
    // Before a set is made: there may be no place for it.
    if (!support.available) throw changesUnavailable(support);
    const set = this.#setFor(request);
    return await set.turns.entering(async () => {
      if (!existsSync(set.directory)) throw setGone();
      await finishApply(set);
      const { plan } = planNow(policy.files, hostView, await findHidden(policy.files, hostView));
      const earlier = set.record.roots.map(({ path }) => path);
      const view = await set.enter(heldRoots(plan, parseMountTable(mountTable()), earlier), {
        ...support,
        isBrief,
      });
      return this.#useOf(set, view);
    });
  }

  /**
   * The files of a program that an earlier server has started. `descriptors` are those of its set; they are taken if the set
   * has none yet. Throws if there is no such set.
   */
  adopt({ folder, mountPoints }: KeptUse, descriptors: Readonly<Record<string, number>>): HeldUse {
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
    if (found === null || !existsSync(found.directory))
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
      // What a killed server left beside files is not in the set. A directory that is gone has taken it along.
      await finishApply(set).catch(() => undefined);
      await set.release();
      await set.meter.close();
      await removeSet(set.directory);
      this.#sets.delete(set.directory);
    });
  }

  /** The session of these sets is over. */
  async ownerGone(owner: string): Promise<void> {
    const sets = this.#all().filter(({ record }) => record.owner === owner && record.lease === 'session');
    await Promise.all(sets.map((set) => this.discard(set).catch(() => undefined)));
  }

  /** Finishes what a killed server was doing, and forgets sets whose session went with it. `lives`: of an owner. */
  async recover({ lives = () => false }: { lives?: (owner: string) => boolean } = {}): Promise<void> {
    await finishRemovals(this.#directory);
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

  #setFor({ sandbox, owner, owners, share }: UseRequest): HeldSet {
    const changesId = sandbox.changesId ?? newSetId();
    const lease = sandbox.changesLease ?? 'session';
    return this.#lookUp(changesId, owners) ?? this.#create({ changesId, owner, share, lease });
  }

  #create({ changesId, owner, share, lease }: NewSet): HeldSet {
    requireSetId(changesId);
    const { own, foreign } = this.#foldersOf(share);
    const left = this.#maxSets - foreign.length;
    if (own.length >= (share === undefined ? left : Math.ceil(shareOf(left))))
      throw new ExecError('changesFull', 'The limit on sets of held changes has been reached; discard some.');
    makePrivateDirectory(this.#directory);
    const directory = join(this.#directory, folderName(changesId, owner));
    mkdirSync(directory, { mode: 0o700 });
    const record: SetRecord = {
      version: 1,
      changesId,
      owner,
      share,
      lease,
      createdAtMs: Date.now(),
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
    if (known && (known.running > 0 || existsSync(directory))) return known;
    // Somebody has removed its folder.
    if (known) this.#forget(known);
    const record = readRecord(directory);
    if (record === null) return null;
    const set = this.#setIn(directory, record);
    this.#sets.set(directory, set);
    return set;
  }

  #forget(set: HeldSet): void {
    this.#sets.delete(set.directory);
    const gone = async (): Promise<void> => {
      await set.release();
      await set.meter.close();
    };
    void gone().catch(() => undefined);
  }

  #setIn(directory: string, record: SetRecord): HeldSet {
    const set: HeldSet = new HeldSet(directory, record, {
      largest: () => this.#largest(directory, record.share),
      grown: () => this.#tell(set, 'larger'),
      keeping: this.#keepingOf?.(basename(directory)),
    });
    return set;
  }

  #largest(directory: string, share: string | undefined): Size {
    const { own, foreign } = this.#foldersOf(share);
    return largestSize(this.#limits, {
      own: sum(own.filter((each) => each !== directory).map(storedSize)),
      foreign: sum(foreign.map(storedSize)),
      isShared: share !== undefined,
    });
  }

  /** The folders of all sets, by whether they take room of this share. */
  #foldersOf(share: string | undefined): { own: string[]; foreign: string[] } {
    const all = this.#folders().map((name) => join(this.#directory, name));
    const isOwn = (each: string): boolean => share === undefined || this.#at(each)?.record.share === share;
    return { own: all.filter(isOwn), foreign: all.filter((each) => !isOwn(each)) };
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
