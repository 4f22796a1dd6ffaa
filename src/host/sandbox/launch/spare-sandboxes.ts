import type { ChildSpec } from '../../spawn/index.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import { checkCwd, locateVisibleProgram } from '../plan/visible-program.js';
import { confinedEnv } from '../bwrap/confine.js';
import type { HeldView } from '../plan/file-view.js';
import { idleMsOf } from './view-identity.js';
import { launchScript } from './launch-script.js';
import type { MountPlan } from '../plan/mount-plan.js';
import { planNow } from '../plan/known-plans.js';
import { SpareSandbox, type SpareOptions } from './spare-sandbox.js';

/** For the whole server. Each consists of three small processes and a handful of descriptors. */
const MAX_SPARES = 8;

/** Making one keeps a core busy for as long as a short program runs: the program that was just started goes first. */
const MAKE_AFTER_MS = 5;

/**
 * A spare gains nothing when programs follow each other faster than sandboxes are made: both would only compete for CPU
 * time.
 */
const MIN_INTERVAL_MS = 15;

/**
 * The machine may be short of resources for a moment, or the disk may change. After this many failures it will never
 * work.
 */
const MAX_FAILURES = 5;

/** A suitable sandbox, and the script for the shell inside. */
export interface FoundSpare {
  readonly spare: SpareSandbox;
  readonly script: Uint8Array;
  /** Where the program was found. */
  readonly program: string;
}

/**
 * Sandboxes made in advance: once programs follow each other under a policy, the next one finds its sandbox set up. A
 * spare is used only if a new sandbox would look the same.
 */
export class SpareSandboxes {
  readonly #spares = new Map<ConfinedPolicy, { spare: SpareSandbox; timer: NodeJS.Timeout }>();
  readonly #scheduled = new Map<ConfinedPolicy, NodeJS.Timeout>();
  readonly #lastStart = new WeakMap<ConfinedPolicy, { atMs: number; viewId: string | undefined }>();
  /** Consecutive failures to make a spare for a policy. */
  readonly #failures = new WeakMap<ConfinedPolicy, number>();
  #closed = false;

  /** Throws whatever starting this program without a spare would throw. */
  take(policy: ConfinedPolicy, spec: ChildSpec, held?: HeldView): FoundSpare | null {
    const spare = this.#spares.get(policy)?.spare;
    if (spare === undefined || !canUseSpare(spec)) return null;
    const view = planNow(policy.files, held);
    if (!spare.isWaiting || !spare.showsTheSame(view.plan, held)) {
      void this.#drop(policy);
      return null;
    }
    checkCwd(spec.cwd, view);
    const program = locateVisibleProgram(spec, view);
    const script = launchScript(launchOrder(spec, policy, program), spare.maxScriptBytes);
    if (script === null || lacksInput(spec, view.plan)) return null;
    this.#release(policy);
    return { spare, script, program };
  }

  /** A program was started under the policy. If the previous one was recent, another is likely to follow. */
  started(policy: ConfinedPolicy, options: SpareOptions): void {
    const now = { atMs: performance.now(), viewId: options.held?.id };
    const last = this.#lastStart.get(policy);
    this.#lastStart.set(policy, now);
    if (
      last === undefined ||
      last.viewId !== now.viewId ||
      this.#closed ||
      this.#scheduled.has(policy) ||
      !canKeepSpare(policy, options)
    )
      return;
    const timer = setTimeout(
      () => this.#make(policy, { ...options, sinceLastMs: now.atMs - last.atMs }),
      MAKE_AFTER_MS,
    );
    this.#scheduled.set(policy, timer.unref());
  }

  /** Ends all spares. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#scheduled.values()) clearTimeout(timer);
    this.#scheduled.clear();
    await Promise.all([...this.#spares.keys()].map((policy) => this.#drop(policy)));
  }

  /** Any problem will surface when a program is started, where it can be reported. */
  #make(policy: ConfinedPolicy, { sinceLastMs, ...options }: SpareOptions & { sinceLastMs: number }): void {
    this.#scheduled.delete(policy);
    if (this.#spares.has(policy) || this.#isHopeless(policy) || SpareSandbox.count >= MAX_SPARES) return;
    const { held } = options;
    if (held?.isThere === false) return;
    try {
      const idleMs = idleMsOf(planNow(policy.files, held).plan);
      if (!isWorthwhile(sinceLastMs, idleMs)) return;
      const spare = SpareSandbox.make(policy, options);
      const timer = setTimeout(() => void this.#drop(policy), idleMs).unref();
      this.#spares.set(policy, { spare, timer });
      // Some plans change once their placeholders exist: a spare made for them never fits.
      if (spare.fits(planNow(policy.files, held).plan, held)) {
        this.#failures.delete(policy);
        return;
      }
      void this.#drop(policy);
      this.#failed(policy);
    } catch {
      this.#failed(policy);
    }
  }

  #failed(policy: ConfinedPolicy): void {
    this.#failures.set(policy, (this.#failures.get(policy) ?? 0) + 1);
  }

  #isHopeless(policy: ConfinedPolicy): boolean {
    return (this.#failures.get(policy) ?? 0) >= MAX_FAILURES;
  }

  async #drop(policy: ConfinedPolicy): Promise<void> {
    await this.#release(policy)?.discard();
  }

  #release(policy: ConfinedPolicy): SpareSandbox | undefined {
    const found = this.#spares.get(policy);
    this.#spares.delete(policy);
    clearTimeout(found?.timer);
    return found?.spare;
  }
}

/** True if the next program is likely to come after its sandbox is ready and before the spare expires. */
export function isWorthwhile(sinceLastMs: number, idleMs: number): boolean {
  return sinceLastMs >= MIN_INTERVAL_MS && sinceLastMs <= idleMs;
}

/** A terminal belongs to a process from its start, and the shell cannot rename a program. */
function canUseSpare({ argv, arg0, terminal }: ChildSpec): boolean {
  return terminal === null && (arg0 === undefined || arg0 === argv[0]);
}

/** The shell inside opens /dev/null, which a policy may hide; without a spare it is opened outside. */
function lacksInput({ stdin }: ChildSpec, { mounts }: MountPlan): boolean {
  return stdin === 'null' && mounts.some(({ path }) => path === '/dev/null');
}

/**
 * Without descriptors of what is mounted we cannot know what a sandbox shows, unless we look inside. Patterns would have to be
 * searched for too often.
 */
function canKeepSpare({ maxProcesses, files }: ConfinedPolicy, { support, held }: SpareOptions): boolean {
  const searches = files.kind === 'restricted' && files.hidden.length > 0;
  const isKnown = support.available && (support.bindFd || held !== undefined);
  return maxProcesses === null && !searches && isKnown;
}

/** Like bubblewrap does it: the program sees the name it was called by, and its working directory. */
function launchOrder({ argv, cwd, env, stdin }: ChildSpec, policy: ConfinedPolicy, program: string) {
  const name = env.PATH === undefined ? program : (argv[0] ?? program);
  return { argv: [name, ...argv.slice(1)], cwd, env: { ...confinedEnv(env, policy), PWD: cwd }, stdin };
}
