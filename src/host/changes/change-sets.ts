import { closeSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ExecError } from '../../protocol/errors.js';
import type { Sandbox } from '../../protocol/index.js';
import { crypto, randomBytes, TimeSlice } from '../kernel/index.js';
import {
  hideFromSandboxes,
  mountTable,
  parseMountTable,
  planNow,
  policyOfRequest,
} from '../sandbox/index.js';
import type { HeldView } from '../sandbox/index.js';
import { openDirectory } from './accessible.js';
import { finishApply } from './apply/apply.js';
import { removeTree } from './apply/remove-tree.js';
import { heldRoots } from './held-roots.js';
import { HeldSet } from './held-set.js';
import {
  type ChangesLease,
  makePrivateDirectory,
  readRecord,
  type SetRecord,
  writeRecord,
} from './set-record.js';
import { changesSupport } from './support.js';

/** Where sets are, and how many there may be. */
export interface ChangeSetsOptions {
  /** Absolute. Programs in sandboxes never see it. */
  readonly directory: string;
  /** Default 256. */
  readonly maxSets?: number | undefined;
}

const DEFAULT_MAX_SETS = 256;

/** What an id may look like: it is the name of a folder, and people type it. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A program that is about to run in a set. */
export interface HeldUse {
  readonly changesId: string;
  readonly view: HeldView;
  /** The program has ended. Its sandbox will, in a moment. */
  readonly ended: () => void;
  /** Nothing is left of it. Idempotent. */
  readonly close: () => void;
}

/** Who asks, and for what. */
export interface UseRequest {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly temporary: string | undefined;
  /** Whose set it becomes if there is none yet. */
  readonly owner: string;
  /** Whose sets may be used. */
  readonly owners: readonly string[];
}

/** All sets of held changes in one directory. */
export class ChangeSets {
  readonly #directory: string;
  readonly #maxSets: number;
  readonly #sets = new Map<string, HeldSet>();
  readonly #listeners = new Set<(set: HeldSet) => void>();
  /** Called before the mounts of a set go, to end what uses them beside programs. */
  #endView: (viewId: string) => Promise<void> = async () => {};

  constructor({ directory, maxSets = DEFAULT_MAX_SETS }: ChangeSetsOptions) {
    this.#directory = directory;
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

  /** Calls `listener` when a program that ran in a set has ended. Returns an unsubscribe function. */
  watch(listener: (set: HeldSet) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the files of a set ready for a program under this policy. */
  async use(request: UseRequest): Promise<HeldUse> {
    const { sandbox, cwd, temporary } = request;
    const support = await this.support();
    const policy = policyOfRequest(sandbox, { cwd, temporary });
    if (policy.kind === 'open') throw nothingEnforced();
    const set = this.#setFor(request);
    return await set.exclusively(async () => {
      await finishApply(set);
      const { plan } = planNow(policy.files);
      const view = await set.enter(heldRoots(plan, parseMountTable(mountTable())), support);
      return { changesId: set.record.changesId, view, ...this.#leaver(set) };
    });
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
    await set.exclusively(async () => {
      await set.untilIdle();
      set.lock();
      await this.release(set);
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

  /** Finishes what a killed server was doing, and forgets sets whose session went with it. */
  async recover({ keepSessions = false }: { keepSessions?: boolean } = {}): Promise<void> {
    for (const set of this.#all()) {
      try {
        set.lock();
      } catch {
        // A server that is alive uses it.
        continue;
      }
      if (set.record.lease === 'session' && !keepSessions) await this.discard(set).catch(() => undefined);
      else
        await set
          .exclusively(() => finishApply(set))
          .catch(() => undefined)
          .finally(() => set.close());
    }
  }

  /** Unmounts everything. Idempotent. */
  close(): void {
    for (const set of this.#sets.values()) set.close();
    this.#sets.clear();
  }

  #leaver(set: HeldSet): Pick<HeldUse, 'ended' | 'close'> {
    let state: 'in' | 'leaving' | 'out' = 'in';
    return {
      ended: () => {
        if (state !== 'in') return;
        state = 'leaving';
        set.leaving();
      },
      close: () => {
        if (state === 'out') return;
        set.leave({ announced: state === 'leaving' });
        // What only looked at files is nobody's program.
        if (state === 'leaving') for (const listener of this.#listeners) listener(set);
        state = 'out';
      },
    };
  }

  #setFor({ sandbox, owner, owners }: UseRequest): HeldSet {
    const changesId = sandbox.changesId ?? newId();
    return (
      this.#lookUp(changesId, owners) ?? this.#create(changesId, owner, sandbox.changesLease ?? 'session')
    );
  }

  #create(changesId: string, owner: string, lease: ChangesLease): HeldSet {
    if (!ID.test(changesId))
      throw new ExecError(
        'invalidParams',
        'The id of held changes consists of up to 64 letters, digits, dots, dashes and underscores.',
      );
    if (this.#folders().length >= this.#maxSets)
      throw new ExecError(
        'changesFull',
        'There are as many sets of held changes as there may be; discard some.',
      );
    makePrivateDirectory(this.#directory);
    const directory = this.#folderOf(changesId, owner);
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
    const set = new HeldSet(directory, record);
    // A session ends with its server, and so does its set: nobody else may think that it is abandoned.
    set.lock();
    this.#sets.set(directory, set);
    return set;
  }

  #lookUp(changesId: string, owners: readonly string[]): HeldSet | null {
    if (!ID.test(changesId)) return null;
    for (const owner of owners) {
      const found = this.#at(this.#folderOf(changesId, owner));
      if (found) return found;
    }
    return null;
  }

  #at(directory: string): HeldSet | null {
    const known = this.#sets.get(directory);
    if (known) return known;
    const record = readRecord(directory);
    if (record === null) return null;
    const set = new HeldSet(directory, record);
    this.#sets.set(directory, set);
    return set;
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

  /** Ids of different owners have nothing to do with each other. */
  #folderOf(changesId: string, owner: string): string {
    const digest = crypto().createHash('sha256').update(owner).digest('hex').slice(0, 12);
    return join(this.#directory, `${digest}-${changesId}`);
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

/** Short, and without characters that are mistaken for each other. */
function newId(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  return Array.from(randomBytes(8), (byte) => letters[byte % letters.length]).join('');
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
