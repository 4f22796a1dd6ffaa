import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LogArchive } from '../../contract/index.js';
import {
  inputNames,
  type ProcessKeeping,
  removeKeptInput,
  type StoppedSandbox,
  type TreeRoot,
} from '../../host/index.js';
import type { DurableOutput, ProcessFacts, Spool } from '../../spool/index.js';
import type { ServerLog } from '../log.js';
import { type DurableStart, recordOf } from './durable-start.js';
import { Journal } from './journal.js';
import { type ClockRecord, SteadyClock } from './steady-clock.js';
import type { Succession } from './upgrades.js';
import type {
  EndRecord,
  KillRecord,
  ProcessOwner,
  ProcessRecord,
  SandboxRecord,
  SessionRecord,
  ShareRecord,
  TreeRecord,
  UnusedRecord,
  UseRecord,
} from './records.js';

const DIRECTORY_MODE = 0o700;
const CLOCK_KEY = 'clock';

/** Holds descriptors for the next server; see `KeeperLink`. */
export interface DescriptorKeeper {
  readonly inherited: ReadonlyMap<
    string,
    { readonly descriptors: Readonly<Record<string, number>>; readonly spoiled: boolean }
  >;
  hold(key: string, descriptors: Readonly<Record<string, number>>): void;
  pass(key: string, descriptors: Readonly<Record<string, number>>): boolean;
  letGo(key: string, name?: string): void;
  spoil(key: string): void;
}

export interface DurableOptions {
  /** Absolute, private to us. */
  readonly directory: string;
  readonly keeper: DescriptorKeeper;
  /** How many of the inherited listening sockets were opened by a service manager. */
  readonly passedSockets: number;
  /** There was no earlier server. */
  readonly isFirst: boolean;
  /** Takes care of the output, even if this server dies. */
  readonly caretaker: ProcessFacts['server'];
  readonly succession: Succession;
}

interface KeepingOptions {
  readonly output: DurableOutput;
  readonly startedAtMs: number;
  readonly starter?: string | undefined;
  readonly started?: (root: TreeRoot) => void;
  /** The record of a process that an earlier server started. */
  readonly root?: TreeRoot;
  /** The names of its kept descriptors. */
  readonly names?: Iterable<string>;
}

/** What a server leaves for the next one. */
export class DurableState {
  readonly journal: Journal;
  /** The clock of all times in the journal, except for when a process started. */
  readonly clock: SteadyClock;
  readonly #options: DurableOptions;
  readonly #spool: Spool;
  readonly #log: ServerLog;
  readonly #inputDirectory: string;
  /** Begins all keys of this server. */
  readonly #mark = randomBytes(8).toString('hex');
  /** State that earlier servers left. */
  #inputNames: ReadonlyMap<string, readonly string[]> | undefined;
  #created = 0;
  #warned = false;

  constructor(options: DurableOptions, { spool, log }: { spool: Spool; log: ServerLog }) {
    this.#options = options;
    this.#spool = spool;
    this.#log = log;
    this.#inputDirectory = join(options.directory, 'input');
    const path = join(options.directory, 'journal');
    if (options.isFirst) rmSync(this.#inputDirectory, { recursive: true, force: true });
    mkdirSync(this.#inputDirectory, { recursive: true, mode: DIRECTORY_MODE });
    this.journal = options.isFirst ? Journal.create(path) : Journal.open(path);
    const [known] = [...this.journal.all(CLOCK_KEY)] as [string, ClockRecord][];
    this.clock = new SteadyClock(known?.[1]);
    if (!known) this.note(CLOCK_KEY, this.clock.record);
  }

  get keeper(): DescriptorKeeper {
    return this.#options.keeper;
  }

  /** What a start needs so that the process may outlive us. */
  begin(start: DurableStart): {
    archive: () => LogArchive;
    keeping: ProcessKeeping;
    spills: boolean;
  } {
    this.#created += 1;
    const key = `${this.#mark}-${this.#created}`;
    const startedAtMs = Date.now();
    const output = this.output(key, { ...start, startedAtMs }, { isNew: true });
    const { owner, starter, spills } = start;
    const record = recordOf(start, { startedAtMs, nowMs: this.clock.fromWallClock(startedAtMs) });
    const started = (root: TreeRoot): void => {
      try {
        this.journal.put(`process ${key}`, { ...record, root } satisfies ProcessRecord);
      } catch {
        this.#lose(key);
      }
    };
    return {
      archive: () => output,
      keeping: this.keeping(key, owner, { output, startedAtMs, starter, started }),
      spills,
    };
  }

  /** The place of its output, new or made by an earlier server. */
  output(
    key: string,
    process: Pick<DurableStart, 'processId' | 'spoolOwner' | 'argv' | 'terminal' | 'keep' | 'spills'> & {
      readonly startedAtMs: number;
    },
    { isNew }: { isNew: boolean },
  ): DurableOutput {
    const { processId, spoolOwner, argv, terminal, keep, spills, startedAtMs } = process;
    const request = {
      id: key,
      processId,
      owner: spoolOwner,
      program: argv[0] ?? '',
      size: terminal,
      keep,
      spills,
      startedAtMs,
      server: this.#options.caretaker,
      failed: () => this.#lose(key),
      ended: (end: EndRecord['end'], offset: number) => {
        this.note(`end ${key}`, { end, offset } satisfies EndRecord);
        if (end.closedSeq !== null) this.keeper.letGo(key);
      },
    };
    return isNew ? this.#spool.createDurable(request) : this.#spool.resumeDurable(request);
  }

  keeping(
    key: string,
    owner: ProcessOwner,
    { output, startedAtMs, starter, started, root, names = [] }: KeepingOptions,
  ): ProcessKeeping {
    let tree = root;
    let user = starter;
    let isTreeGone = false;
    const held = new Set(names);
    return {
      output,
      startedAtMs,
      inputPath: this.#inputPath(key),
      hold: (descriptors) => {
        this.keeper.hold(key, descriptors);
        for (const name of Object.keys(descriptors)) held.add(name);
      },
      letGo: (name) => this.keeper.letGo(key, name),
      started: (begun) => {
        tree = begun;
        started?.(begun);
      },
      confined: (initPid) => this.note(`sandbox ${key}`, { initPid } satisfies SandboxRecord),
      stopping: (stopped) =>
        stopped === null
          ? this.forget(`stopped ${key}`)
          : this.note(`stopped ${key}`, stopped satisfies StoppedSandbox),
      unused: (sinceMs) =>
        sinceMs === null
          ? this.forget(`unused ${key}`)
          : this.note(`unused ${key}`, { sinceMs: this.clock.fromWallClock(sinceMs) } satisfies UnusedRecord),
      leftBy: (session) => {
        if (session !== user) return;
        user = undefined;
        this.note(`left ${key}`, {});
      },
      killAt: (wallMs, { timedOut }) => {
        const timeMs = this.clock.fromWallClock(wallMs);
        this.note(`killAt ${key}`, { timeMs, timedOut } satisfies KillRecord);
      },
      forgotten: () => {
        user = undefined;
        if (tree && !isTreeGone) this.note(`tree ${tree.treeId}`, { root: tree, owner } satisfies TreeRecord);
        this.forgetProcess(key, held);
      },
      treeGone: () => {
        isTreeGone = true;
        if (tree) this.forget(`tree ${tree.treeId}`);
      },
    };
  }

  /** Forgets the process, except for its output if that is to stay. */
  forgetProcess(key: string, names: Iterable<string>): void {
    for (const kind of ['process', 'sandbox', 'stopped', 'end', 'killAt', 'unused', 'left'])
      this.forget(`${kind} ${key}`);
    this.keeper.letGo(key);
    removeKeptInput(this.#inputPath(key), names);
  }

  /** The files with the input of a process that an earlier server started. */
  inputNames(key: string): readonly string[] {
    this.#inputNames ??= inputNames(readdirSync(this.#inputDirectory));
    return this.#inputNames.get(key) ?? [];
  }

  #inputPath(key: string): string {
    return join(this.#inputDirectory, key);
  }

  /** The record has the time of the wall clock. */
  noteSession(id: string, record: SessionRecord): void {
    const { detachedAtMs } = record;
    const sinceMs = detachedAtMs === null ? null : this.clock.fromWallClock(detachedAtMs);
    this.note(`session ${id}`, { ...record, detachedAtMs: sinceMs } satisfies SessionRecord);
  }

  /** The same. */
  noteShare(hash: string, record: ShareRecord): void {
    const expiresAtMs = this.clock.fromWallClock(record.expiresAtMs);
    this.note(`share ${hash}`, { ...record, expiresAtMs } satisfies ShareRecord);
  }

  noteUse(record: UseRecord): void {
    this.note(useKey(record), record);
  }

  forgetUse(use: Pick<UseRecord, 'session' | 'processId'>): void {
    this.forget(useKey(use));
  }

  /** Without room on disk, the next server does not know of it: it will say that contact is lost, and invent nothing. */
  note(key: string, value: object): void {
    try {
      this.journal.put(key, value);
    } catch (error) {
      this.#warn(error);
    }
  }

  forget(key: string): void {
    try {
      this.journal.delete(key);
    } catch (error) {
      this.#warn(error);
    }
  }

  /** The server has ended everything in an orderly way. */
  close(): void {
    this.journal.remove();
    rmSync(this.#inputDirectory, { recursive: true, force: true });
  }

  /** The next server must not continue with it. */
  #lose(key: string): void {
    this.keeper.spoil(key);
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    this.#log.warn(
      { reason },
      'the journal cannot be written; whatever happens now is lost if this server dies',
    );
  }
}

function useKey({ session, processId }: Pick<UseRecord, 'session' | 'processId'>): string {
  return `use ${session} ${processId}`;
}
