import type { RemoteEnvironment } from '../../client/index.js';
import type { ExecProcess, ProcessEnd } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import type { JobEnd, JobOrder, JobState, RunningState } from './job-records.js';
import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';
import { type LeaseGuard, treeOf } from './lease-guard.js';
import { JobLeaseHolder } from './lease-holder.js';
import { OutputMirror } from './output-mirror.js';
import { afterAttempt, insist, type KnownAttempt, settle } from './settle.js';

/** How long a program may take to end by itself when it is cancelled, or when its machine leaves. */
const GRACE_MS = 5_000;

export interface JobAttemptOptions {
  readonly store: JobStore;
  readonly guard: LeaseGuard;
  readonly key: JobKey;
  readonly order: JobOrder;
  readonly known: KnownAttempt;
  /** This machine, in the name of the client. */
  readonly environment: () => Promise<RemoteEnvironment>;
}

/** Why the machine itself ends a program. */
type Stop = 'cancelled' | 'leaving' | 'fenced';

/** One run of a job on this machine, from its lease to its result. */
export class JobAttempt {
  readonly #options: JobAttemptOptions;
  readonly #lease: JobLeaseHolder;
  readonly #mirror: OutputMirror;
  #child: ExecProcess | undefined;
  #stop: Stop | undefined;

  constructor(options: JobAttemptOptions) {
    this.#options = options;
    const { store, key, known } = options;
    const { machine, attempt } = known.running;
    this.#mirror = new OutputMirror(
      store,
      store.subjects.output(machine, key.client, key.id, String(attempt)),
    );
    this.#lease = new JobLeaseHolder({ store, key, running: known.running, lost: () => this.end('fenced') });
  }

  /** Resolves when the job has a result or was given to another machine. */
  async run(): Promise<void> {
    try {
      if (await this.#lease.take(() => !this.#stop)) await this.#settle(await this.#execute());
      // Nothing was begun.
      else if (this.#stop) await this.#settle(null);
    } finally {
      this.#lease.release();
    }
  }

  /** Ends the program and all it has started. */
  end(why: Stop): void {
    if (this.#stop === 'fenced') return;
    this.#stop = why;
    // The lease has run out: others may run the program by now, so there is no point in waiting for it.
    void this.#child?.terminate(why === 'fenced' ? {} : { graceMs: GRACE_MS }).catch(() => undefined);
  }

  /** Resolves to how it ended; null if it is queued again, because this machine takes nothing at the moment. */
  async #execute(): Promise<JobEnd['end'] | 'lost' | null> {
    try {
      const child = await this.#start();
      return child && (await this.#follow(child));
    } catch (error) {
      if (isExecError(error, 'machineDraining') || isExecError(error, 'overloaded')) return null;
      if (!(error instanceof ExecError)) throw error;
      // The machine's reason; never the command it was given.
      return { kind: 'failed', message: error.message };
    }
  }

  async #start(): Promise<ExecProcess | null> {
    const { store, order, key, known, environment } = this.#options;
    const { argv, cwd, env, deadlineAt } = order;
    const machine = await environment();
    const hasSpool = machine.client.serverCapabilities.spool;
    if (this.#stop || !this.#lease.isHeld) return null;
    const now = store.now();
    const child = await machine.start({
      argv,
      processId: processIdOf(key, known.running.attempt),
      lease: 'kept',
      ...(hasSpool ? ({ retain: 'disk', onSlowReader: 'spool' } as const) : {}),
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(deadlineAt === undefined || now === undefined ? {} : { timeoutMs: Math.max(1, deadlineAt - now) }),
    });
    this.#child = child;
    const row = (await machine.kept()).find(({ processId }) => processId === child.processId);
    const tree = row?.pid == null ? undefined : treeOf(row.pid);
    if (tree !== undefined) this.#lease.guard(this.#options.guard, tree);
    if (this.#stop) this.end(this.#stop);
    return child;
  }

  async #follow(child: ExecProcess): Promise<JobEnd['end'] | 'lost'> {
    for await (const event of child.events()) {
      if (event.type === 'output') this.#mirror.write(event.stream, event.bytes);
      if (event.type === 'gap') this.#mirror.skip(event.lostBytes);
    }
    const end = await child.wait();
    await this.#mirror.end();
    return this.#isOurDoing(end) ? 'lost' : told(end);
  }

  /** The program did not end like that by itself: the machine leaves, or its lease had run out. */
  #isOurDoing(end: ProcessEnd): boolean {
    if (end.kind === 'contactLost' || this.#stop === 'leaving') return true;
    return !this.#lease.isHeld && end.kind === 'signalled' && end.signal === 'SIGKILL';
  }

  async #settle(end: JobEnd['end'] | 'lost' | null): Promise<void> {
    const { store, key, known, order } = this.#options;
    const { machine, attempt } = known.running;
    const next = (running: RunningState): JobState => {
      if (end !== null && end !== 'lost')
        return afterAttempt(running, { outcome: 'ended', end, retryOn: order.retryOn });
      if (end === 'lost' || running.cancel) return afterAttempt(running, { outcome: 'contactLost' });
      return { state: 'queued', attempt: attempt + 1, retriesLeft: running.retriesLeft };
    };
    const write = async (): Promise<void> => {
      if (end !== null && end !== 'lost')
        await store.writeEnd(key, machine, { attempt, end, outputBytes: this.#mirror.total });
      await settle(store, key, known, next);
    };
    await insist(write, { isOver: () => this.#stop === 'leaving' });
  }
}

/** The kept process of an attempt: its client finds all of its output there. */
export function processIdOf({ id }: JobKey, attempt: number): string {
  return `job-${id}-${attempt}`;
}

function told(end: Exclude<ProcessEnd, { kind: 'contactLost' }> | ProcessEnd): JobEnd['end'] | 'lost' {
  switch (end.kind) {
    case 'exited':
      return { kind: 'exited', exitCode: end.exitCode };
    case 'signalled':
      return { kind: 'signalled', exitCode: end.exitCode, signal: end.signal };
    case 'timedOut':
      return { kind: 'timedOut', exitCode: end.exitCode };
    default:
      return 'lost';
  }
}
