import { closeSync } from 'node:fs';
import type { OutputStream, SignalName } from '../../../contract/index.js';
import { policyOfRequest, type SandboxPolicy } from '../../../policy/internal.js';
import type { ExecError } from '../../../protocol/errors.js';
import type { Sandbox, SandboxType } from '../../../protocol/index.js';
import {
  assertLimits,
  assertSpawnable,
  type Child,
  type ChildSink,
  type ChildSpec,
} from '../../spawn/index.js';
import type { NetworkToJoin } from '../bwrap/confine.js';
import { pathChanged } from '../plan/exact-path.js';
import { type HeldView, hostView } from '../plan/file-view.js';
import { findHidden } from '../plan/hidden-search.js';
import { sandboxSupport, withSupport } from '../probe/probe.js';
import { adoptSandbox, type KeptSandbox } from './adopted-sandbox.js';
import { DENIAL_TAIL_BYTES, wasDenied } from './denial.js';
import { managedPolicy } from './managed-policy.js';
import {
  alreadyRunning,
  confinementFor,
  fromConfinement,
  fromSpare,
  type PreparedSandbox,
  type PreparedSpec,
} from './prepared-sandbox.js';
import { pauseTree } from './paused-tree.js';
import { explainSetupFailure } from './setup-failure.js';
import type { SpareSandboxes } from './spare-sandboxes.js';

/** A sandbox takes a few dozen mounts; if setup takes longer than this, it hangs on a dead file system. */
const SETUP_LIMIT_MS = 30_000;

/** A program to put under a policy. */
export interface ConfinedSpec extends ChildSpec {
  /** A descriptor passed to the program as `SCRIPT_FD`. We take ownership in any case. */
  readonly script?: number | undefined;
  /** The TMPDIR that the policy uses if `env` comes from a shell profile: writing a profile must not widen the policy. */
  readonly askedTemporary?: string | null | undefined;
  /** The network it gets, whatever else the policy says about networks. */
  readonly network?: NetworkToJoin | undefined;
  /** The files it sees, if its changes are held. */
  readonly held?: HeldView | undefined;
}

/** What the sandbox needs to know about the started process. */
export interface StartedSandbox {
  /** Its output has ended and so has the process. */
  readonly closed: Promise<void>;
  readonly wasKilled: () => boolean;
  readonly kill: () => void;
}

/** A program under a policy: how to start it, and how it differs while it runs. */
export class SandboxedLaunch {
  readonly #prepared: PreparedSandbox;
  readonly #policy: SandboxPolicy;
  readonly #onReady: () => void;
  readonly #name: string;
  readonly #cwd: string;
  readonly #decoder = new TextDecoder();
  #tail = '';

  private constructor(
    spec: Pick<ChildSpec, 'argv' | 'cwd'>,
    { policy, prepared, onReady }: { policy: SandboxPolicy; prepared: PreparedSandbox; onReady: () => void },
  ) {
    this.#policy = policy;
    this.#prepared = prepared;
    this.#onReady = onReady;
    this.#name = spec.argv[0] ?? '';
    this.#cwd = spec.cwd;
  }

  /** Throws `sandboxUnavailable` if the policy cannot be enforced. Then call `spawn` or `discard`. */
  static async prepare(
    spec: ConfinedSpec,
    sandbox: Sandbox,
    spares?: SpareSandboxes,
  ): Promise<SandboxedLaunch> {
    const { script } = spec;
    if (script === undefined) return await SandboxedLaunch.#prepare(spec, sandbox, spares);
    let taken = false;
    const handOver = (): number => {
      taken = true;
      return script;
    };
    try {
      // A spare sandbox has no place for it.
      return await SandboxedLaunch.#prepare({ ...spec, handOver }, sandbox);
    } finally {
      if (!taken) closeSync(script);
    }
  }

  static async #prepare(
    spec: PreparedSpec,
    sandbox: Sandbox,
    spares?: SpareSandboxes,
  ): Promise<SandboxedLaunch> {
    if (sandbox.changes && !spec.held) throw new Error('the changes of this program are not held');
    assertSpawnable(spec);
    if (spec.limits) assertLimits(spec.limits);
    const { askedTemporary = spec.env.TMPDIR, network, held } = spec;
    const asked = policyOfRequest(sandbox, { cwd: spec.cwd, temporary: askedTemporary ?? undefined });
    const policy = network ? managedPolicy(asked, network) : asked;
    if (policy.kind === 'open') {
      const prepared = fromConfinement(spec, confinementFor(spec, policy, await sandboxSupport()));
      return new SandboxedLaunch(spec, { policy, prepared, onReady: () => {} });
    }
    const hidden = await findHidden(policy.files, held ?? hostView);
    return await withSupport((support) => {
      // A spare has no limits, and another server could not take it over.
      const usable = spec.keeping || spec.limits ? undefined : spares;
      const found = usable?.take(policy, spec, held) ?? null;
      const prepared = found
        ? fromSpare(spec, found)
        : fromConfinement(spec, confinementFor({ ...spec, hidden }, policy, support));
      return new SandboxedLaunch(spec, {
        policy,
        prepared,
        onReady: () => usable?.started(policy, { support, network, held }),
      });
    });
  }

  /** A running program that another server started. */
  static adopt(argv: readonly string[], kept: KeptSandbox): SandboxedLaunch {
    const { policy, status } = adoptSandbox(kept);
    const prepared = alreadyRunning(argv, status);
    const spec = { argv, cwd: kept.cwd };
    return new SandboxedLaunch(spec, { policy, prepared, onReady: () => {} });
  }

  /** What another server needs to find it again; null unless the program was in a sandbox. */
  get firstPid(): number | null {
    return this.#prepared.status?.firstPid ?? null;
  }

  /** Bubblewrap has ended. Idempotent. */
  over(): void {
    this.#prepared.status?.over();
  }

  get sandboxType(): SandboxType {
    return this.#prepared.sandboxType;
  }

  /** The first process inside, while there is one. */
  get initPid(): number | null {
    return this.#prepared.status?.initPid ?? null;
  }

  /** Stops everything inside until the returned function is called. Null if nothing is inside, or it cannot be stopped. */
  pause(): (() => void) | null {
    const { status } = this.#prepared;
    const initPid = status?.initPid ?? null;
    const paused = status && initPid !== null ? pauseTree(status, initPid) : null;
    return paused && (() => paused.resume());
  }

  /** Settles when nothing is left of its sandbox, including on disk, whether it was started or discarded. */
  get gone(): Promise<unknown> {
    return Promise.resolve(this.#prepared.status?.ended);
  }

  /** Starts the program. On failure it throws `spawnFailed` and leaves nothing behind. */
  spawn(sink: ChildSink): Child {
    return this.#prepared.spawn(sink);
  }

  /** The program will not be started after all. */
  discard(): void {
    this.#prepared.discard();
  }

  /** Resolves when the program itself is running. If its sandbox ended first, throws once that is closed. */
  async ready({ closed, wasKilled, kill }: StartedSandbox): Promise<void> {
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      kill();
    }, SETUP_LIMIT_MS);
    const { status, report } = this.#prepared;
    const runs = (await status?.commandRuns(report)) ?? true;
    clearTimeout(limit);
    if (runs) return this.#onReady();
    // A caller who killed it wants to see it end, not an error.
    if (wasKilled() && !late) return;
    await closed;
    throw this.#failure();
  }

  #failure(): ExecError {
    // Ended by us, because a protected name was replaced while the sandbox was set up.
    if (this.#prepared.status?.revoked) return pathChanged(null);
    return explainSetupFailure(this.#tail, {
      name: this.#name,
      program: this.#prepared.program,
      cwd: this.#cwd,
    });
  }

  /** Sends a signal to the program inside. False if the child itself should be signalled. */
  signal(signal: SignalName): boolean {
    const { status } = this.#prepared;
    void status?.signal(signal);
    return status !== null;
  }

  /** Keeps the end of the output: what a program prints before it fails tells whether the policy was the reason. */
  heard(stream: OutputStream, bytes: Uint8Array): void {
    if (this.#prepared.status === null) return;
    if (stream === 'stdout') return;
    const text = this.#decoder.decode(bytes.subarray(-DENIAL_TAIL_BYTES), { stream: true });
    this.#tail = (this.#tail + text).slice(-DENIAL_TAIL_BYTES);
  }

  denied(exitCode: number): boolean {
    if (this.#prepared.status?.revoked) return true;
    return wasDenied(this.#policy, { exitCode, cwd: this.#cwd, outputTail: this.#tail });
  }
}
