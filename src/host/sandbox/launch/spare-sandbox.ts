import { closeSync, writeSync } from 'node:fs';
import {
  type Child,
  type ChildSink,
  type ChildSpec,
  type ParkedChild,
  spawnParkedChild,
} from '../../spawn/index.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import type { HeldView } from '../plan/file-view.js';
import { type Confinement, confine, type NetworkToJoin } from '../bwrap/confine.js';
import { findWaitingShell } from './launcher.js';
import { LaunchReport } from './launch-report.js';
import { openPipe, pipeCapacity } from '../../kernel/index.js';
import type { MountPlan } from '../plan/mount-plan.js';
import { planNow } from '../plan/known-plans.js';
import type { SandboxStatus } from './status.js';
import type { SandboxSupport } from '../probe/probe.js';
import { showsPlaces } from './shown-places.js';
import { viewIdentity } from './view-identity.js';
import { waitingShell } from './launch-script.js';

/** A shell exits soon after reading the end of its script; after this long it is killed. */
const EXIT_LIMIT_MS = 1_000;

/** How a spare is made. */
export interface SpareOptions {
  readonly support: SandboxSupport;
  readonly network?: NetworkToJoin | undefined;
  /** The files its program will see, if its changes are held. */
  readonly held?: HeldView | undefined;
}

/** All spares that are waiting or about to end, of all owners. */
const kept = new Set<SpareSandbox>();

/**
 * A sandbox that is already set up, with a shell inside that waits for the program to become. No client's program has run in it.
 */
export class SpareSandbox {
  /** Tells whether the shell inside became the program. */
  readonly report: LaunchReport;
  /** The maximum size of a launch script. */
  readonly maxScriptBytes: number;
  /** Identifies what it shows of the disk. */
  readonly #identity: string;
  readonly #confinement: Confinement;
  readonly #child: ParkedChild;
  #script: number | null;
  /** Nobody needs to tell it any more that its files go. */
  #stayed: () => void = () => {};

  private constructor(made: {
    identity: string;
    confinement: Confinement;
    child: ParkedChild;
    script: number;
    report: LaunchReport;
  }) {
    this.#identity = made.identity;
    this.report = made.report;
    this.#confinement = made.confinement;
    this.#child = made.child;
    this.#script = made.script;
    this.maxScriptBytes = pipeCapacity(made.script);
    this.#child.onEnded = () => this.#gone();
    keep(this);
    void this.status?.ended.then(() => {
      forget(this);
      this.report.close();
    });
  }

  /** Throws if it cannot be made. */
  static make(policy: ConfinedPolicy, { support, network, held }: SpareOptions): SpareSandbox {
    const view = planNow(policy.files, held);
    const argv = waitingShell(findWaitingShell(view));
    const { script, report } = openLaunchPipes();
    let confinement: Confinement | undefined;
    try {
      const fds = { script: script.readEnd, report: report.writeEnd };
      confinement = confine(
        { argv, cwd: '/', env: {}, terminal: false, ...fds },
        { policy, support, network, held },
      );
      // Taken before the sandbox exists, so that changes during setup count as changes. What it shows stays open while
      // it waits, so that no inode number can be reused.
      const identity = confinement.viewIdentity();
      const child = spawnParkedChild(waitingChild(confinement));
      const ends = { script: script.writeEnd, report: new LaunchReport(report.readEnd) };
      const spare = new SpareSandbox({ identity, confinement, child, ...ends });
      if (held) spare.#stayed = held.onEnd(() => spare.discard(), view.plan.mounts);
      return spare;
    } catch (error) {
      for (const fd of [script.writeEnd, report.readEnd]) closeSync(fd);
      confinement?.release();
      confinement?.status?.over();
      throw error;
    }
  }

  get status(): SandboxStatus | null {
    return this.#confinement.status;
  }

  static get count(): number {
    return kept.size;
  }

  /** True while a program can still be launched in it. */
  get isWaiting(): boolean {
    return this.#child.isWaiting && this.#script !== null;
  }

  /** False if it was made for something else than this plan means now. */
  fits(plan: MountPlan, held: HeldView | undefined): boolean {
    return viewIdentity(plan, { held }) === this.#identity;
  }

  /** True if a new sandbox would show the same. */
  showsTheSame(plan: MountPlan, held: HeldView | undefined): boolean {
    if (!this.fits(plan, held)) return false;
    if (held === undefined) return true;
    const init = this.status?.initPid ?? null;
    return init !== null && showsPlaces(init, plan, held);
  }

  /** Turns the waiting shell into the program. Only while `isWaiting`. */
  launch(script: Uint8Array, sink: ChildSink): Child {
    const child = this.#child.attach({
      ...sink,
      exited: (end) => {
        this.status?.over();
        sink.exited(end);
      },
    });
    forget(this);
    if (this.#script !== null) writeAll(this.#script, script);
    this.#release();
    return child;
  }

  /** Ends it. Resolves when nothing is left of it. */
  async discard(): Promise<void> {
    this.#release();
    const timer = setTimeout(() => void this.#child.discard(), EXIT_LIMIT_MS);
    await this.status?.ended;
    clearTimeout(timer);
  }

  /** There is no time to wait for its end, which will come by itself; nothing may be left on disk. */
  abandon(): void {
    this.#confinement.abandon();
  }

  /** It ended by itself. */
  #gone(): void {
    this.#release();
    this.status?.over();
  }

  /** The shell reads the end of its script and, if it was empty, exits. */
  #release(): void {
    this.#stayed();
    this.#confinement.release();
    if (this.#script !== null) closeSync(this.#script);
    this.#script = null;
  }
}

function openLaunchPipes(): Record<'script' | 'report', ReturnType<typeof openPipe>> {
  const script = openPipe();
  try {
    return { script, report: openPipe() };
  } catch (error) {
    for (const fd of Object.values(script)) closeSync(fd);
    throw error;
  }
}

function waitingChild({ argv, cwd, env, inheritFds }: Confinement): ChildSpec {
  return { argv, cwd, env, inheritFds, stdin: 'pipe', terminal: null };
}

/** All of it fits into the pipe. If the shell does not read it, the end of the child shows that. */
function writeAll(fd: number, bytes: Uint8Array): void {
  try {
    writeSync(fd, bytes);
  } catch {
    // The shell is gone, and we are about to learn of it.
  }
}

/** Sandboxes die with us; the names they blocked must not stay blocked. */
function tidyUp(): void {
  for (const spare of kept) spare.abandon();
}

function keep(spare: SpareSandbox): void {
  if (kept.size === 0) process.on('exit', tidyUp);
  kept.add(spare);
}

function forget(spare: SpareSandbox): void {
  if (kept.delete(spare) && kept.size === 0) process.off('exit', tidyUp);
}
