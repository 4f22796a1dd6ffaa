import type { ChildSpec } from '../../spawn/index.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import { checkCwd, locateVisibleProgram } from '../plan/visible-program.js';
import { confinedEnv } from '../bwrap/confine.js';
import { idleMsOf, viewIdentity } from './warm-view.js';
import { launchScript } from './launch-script.js';
import type { MountPlan } from '../plan/mount-plan.js';
import { planNow } from '../plan/known-plans.js';
import type { SandboxSupport } from '../probe/probe.js';
import { SpareSandbox } from './spare-sandbox.js';

/** In the whole server. Each is three small processes and a handful of descriptors. */
const MAX_SPARES = 8;

/** Making one takes a core for as long as a short program runs: the program that was just started goes first. */
const MAKE_AFTER_MS = 5;

/** Whose programs follow each other faster than sandboxes are made gains nothing: both would only take each other's time. */
const MIN_INTERVAL_MS = 15;

/** The machine may be short of something for a moment, or the disk change. What fails as often as this always will. */
const MAX_FAILURES = 5;

/** A sandbox that fits, and what to tell the shell inside. */
export interface FoundSpare {
  readonly spare: SpareSandbox;
  readonly script: Uint8Array;
  /** Where the program was found. */
  readonly program: string;
}

/**
 * Sandboxes made ahead of time: once programs follow each other under a policy, the next one finds its sandbox set up.
 * One that waited is used only if the same one would be made now.
 */
export class SpareSandboxes {
  readonly #spares = new Map<ConfinedPolicy, { spare: SpareSandbox; timer: NodeJS.Timeout }>();
  readonly #coming = new Map<ConfinedPolicy, NodeJS.Timeout>();
  readonly #lastStart = new WeakMap<ConfinedPolicy, number>();
  /** How often in a row making one for a policy was in vain. */
  readonly #failures = new WeakMap<ConfinedPolicy, number>();
  #closed = false;

  /** Throws what the start of this program throws without a spare one. */
  take(policy: ConfinedPolicy, spec: ChildSpec): FoundSpare | null {
    const spare = this.#spares.get(policy)?.spare;
    if (spare === undefined || !suits(spec)) return null;
    const view = planNow(policy.files);
    if (!spare.isWaiting || viewIdentity(view.plan) !== spare.identity) {
      void this.#drop(policy);
      return null;
    }
    checkCwd(spec.cwd, view);
    const program = locateVisibleProgram(spec, view);
    const script = launchScript(orderOf(spec, policy, program), spare.maxScriptBytes);
    if (script === null || lacksInput(spec, view.plan)) return null;
    this.#release(policy);
    return { spare, script, program };
  }

  /** A program runs under the policy. If the one before it is not long ago, another one may follow. */
  started(policy: ConfinedPolicy, support: SandboxSupport): void {
    const now = performance.now();
    const last = this.#lastStart.get(policy);
    this.#lastStart.set(policy, now);
    if (last === undefined || this.#closed || this.#coming.has(policy) || !canWait(policy, support)) return;
    const timer = setTimeout(() => this.#make(policy, { support, sinceLastMs: now - last }), MAKE_AFTER_MS);
    this.#coming.set(policy, timer.unref());
  }

  /** Ends all of them. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#coming.values()) clearTimeout(timer);
    this.#coming.clear();
    await Promise.all([...this.#spares.keys()].map((policy) => this.#drop(policy)));
  }

  /** Whatever is wrong will show when a program is started, to somebody who can be told. */
  #make(
    policy: ConfinedPolicy,
    { support, sinceLastMs }: { support: SandboxSupport; sinceLastMs: number },
  ): void {
    this.#coming.delete(policy);
    if (this.#spares.has(policy) || this.#isHopeless(policy) || SpareSandbox.count >= MAX_SPARES) return;
    try {
      const idleMs = idleMsOf(planNow(policy.files).plan);
      if (!isWorthwhile(sinceLastMs, idleMs)) return;
      const spare = SpareSandbox.make(policy, support);
      const timer = setTimeout(() => void this.#drop(policy), idleMs).unref();
      this.#spares.set(policy, { spare, timer });
      // Some plans are others once their placeholders exist: what is made for them never fits.
      if (spare.identity === viewIdentity(planNow(policy.files).plan)) {
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

/** Whether the next program is likely to come after its sandbox is made, and before it is let go. */
export function isWorthwhile(sinceLastMs: number, idleMs: number): boolean {
  return sinceLastMs >= MIN_INTERVAL_MS && sinceLastMs <= idleMs;
}

/** A terminal belongs to a process from its beginning, and the shell gives no program another name. */
function suits({ argv, arg0, terminal }: ChildSpec): boolean {
  return terminal === null && (arg0 === undefined || arg0 === argv[0]);
}

/** The shell inside opens /dev/null, which a policy may keep from it; otherwise it is opened outside. */
function lacksInput({ stdin }: ChildSpec, { mounts }: MountPlan): boolean {
  return stdin === 'null' && mounts.some(({ path }) => path === '/dev/null');
}

/** Without handles on what is mounted it cannot be known what a sandbox shows. Patterns would be searched for too often. */
function canWait({ maxProcesses, files }: ConfinedPolicy, support: SandboxSupport): boolean {
  const searches = files.kind === 'restricted' && files.hidden.length > 0;
  return maxProcesses === null && !searches && support.available && support.bindFd;
}

/** As bubblewrap would do it: the program sees the name it was called by, and where it is. */
function orderOf({ argv, cwd, env, stdin }: ChildSpec, policy: ConfinedPolicy, program: string) {
  const name = env.PATH === undefined ? program : (argv[0] ?? program);
  return { argv: [name, ...argv.slice(1)], cwd, env: { ...confinedEnv(env, policy), PWD: cwd }, stdin };
}
