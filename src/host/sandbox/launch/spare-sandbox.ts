import { closeSync, writeSync } from 'node:fs';
import {
  type Child,
  type ChildSink,
  type ChildSpec,
  type ParkedChild,
  spawnParkedChild,
} from '../../spawn/index.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import { type Confinement, confine } from '../bwrap/confine.js';
import { findWaitingShell } from './launcher.js';
import { LaunchReport } from './launch-report.js';
import { openPipe, pipeCapacity } from '../../kernel/index.js';
import { planNow } from '../plan/known-plans.js';
import type { SandboxStatus } from './status.js';
import type { SandboxSupport } from '../probe/probe.js';
import { waitingShell } from './launch-script.js';

/** A shell that reads the end of its script is gone within a moment; one that is not is killed. */
const FAREWELL_MS = 1_000;

/** All that wait or are about to end, whoever keeps them. */
const kept = new Set<SpareSandbox>();

/** A sandbox that is set up, with a shell inside that waits to be told what to become. Nobody's program ran in it. */
export class SpareSandbox {
  /** What it shows of the disk. */
  readonly identity: string;
  /** Whether the shell inside became the program. */
  readonly report: LaunchReport;
  /** How long what it is told may be. */
  readonly maxScriptBytes: number;
  readonly #confinement: Confinement;
  readonly #child: ParkedChild;
  #script: number | null;

  private constructor(made: {
    identity: string;
    confinement: Confinement;
    child: ParkedChild;
    script: number;
    report: LaunchReport;
  }) {
    this.identity = made.identity;
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

  /** Throws where there cannot be one. */
  static make(policy: ConfinedPolicy, support: SandboxSupport): SpareSandbox {
    const argv = waitingShell(findWaitingShell(planNow(policy.files)));
    const { script, report } = openLaunchPipes();
    let confinement: Confinement | undefined;
    try {
      const fds = { script: script.readEnd, report: report.writeEnd };
      confinement = confine({ argv, cwd: '/', env: {}, terminal: false, ...fds }, { policy, support });
      // Before it exists, so that what changes while it is made counts as changed. The places it shows stay open as long as
      // it waits: so no number of theirs can become another place's.
      const identity = confinement.viewIdentity();
      const child = spawnParkedChild(waitingChild(confinement));
      const ends = { script: script.writeEnd, report: new LaunchReport(report.readEnd) };
      return new SpareSandbox({ identity, confinement, child, ...ends });
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

  /** Whether a program can still be launched in it. */
  get isWaiting(): boolean {
    return this.#child.isWaiting && this.#script !== null;
  }

  /** Turns the waiting shell into the program. Only while it waits. */
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
    this.#letGo();
    return child;
  }

  /** Ends it. Resolves when nothing of it is left. */
  async discard(): Promise<void> {
    this.#letGo();
    const timer = setTimeout(() => void this.#child.discard(), FAREWELL_MS);
    await this.status?.ended;
    clearTimeout(timer);
  }

  /** There is no time to wait for its end, which comes by itself: nothing of it may stay on disk. */
  abandon(): void {
    this.#confinement.abandon();
  }

  /** It ended by itself. */
  #gone(): void {
    this.#letGo();
    this.status?.over();
  }

  /** The shell reads the end of its script; if there was none, that is its end. */
  #letGo(): void {
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

/** All of it fits into the pipe. Whether somebody reads it shows in what becomes of the child. */
function writeAll(fd: number, bytes: Uint8Array): void {
  try {
    writeSync(fd, bytes);
  } catch {
    // The shell is gone, and its end is on the way to us.
  }
}

/** Sandboxes die with us; the names they kept from being used must not stay used. */
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
