import type { OutputStream, SignalName } from '../contract/index.js';
import type { ExecError } from '../protocol/errors.js';
import type { Sandbox, SandboxType } from '../protocol/index.js';
import { assertSpawnable, type ChildSpec } from './child/index.js';
import {
  type Confinement,
  confine,
  DENIAL_TAIL_BYTES,
  explainSetupFailure,
  policyOfRequest,
  type SandboxPolicy,
  sandboxSupport,
  wasDenied,
} from './sandbox/index.js';

/** A sandbox is made of a few dozen mounts; one that takes longer than this hangs on a dead file system. */
const SETUP_LIMIT_MS = 30_000;

/** What was started for a program, seen by the sandbox around it. */
export interface StartedSandbox {
  /** It ended and said all it had to say. */
  readonly closed: Promise<void>;
  readonly wasKilled: () => boolean;
  readonly kill: () => void;
}

/** A program under a policy: what to start for it, and what is different about it while it runs. */
export class ConfinedProcess {
  /** What to start instead of the program itself. */
  readonly child: ChildSpec;
  readonly #confinement: Confinement;
  readonly #policy: SandboxPolicy;
  readonly #name: string;
  readonly #cwd: string;
  readonly #decoder = new TextDecoder();
  #tail = '';

  private constructor(spec: ChildSpec, policy: SandboxPolicy, confinement: Confinement) {
    this.#policy = policy;
    this.#name = spec.argv[0] ?? '';
    this.#cwd = spec.cwd;
    this.#confinement = confinement;
    const { argv, arg0, cwd, env, inheritFds, controllingTerminal } = confinement;
    this.child = {
      argv,
      ...(arg0 === undefined ? {} : { arg0 }),
      cwd,
      env,
      inheritFds,
      stdin: spec.stdin,
      terminal: spec.terminal,
      controlsTerminal: controllingTerminal === 'caller',
    };
  }

  /** Throws `sandboxUnavailable` where the policy cannot be enforced. Call `started` whatever happens next. */
  static async prepare(spec: ChildSpec, sandbox: Sandbox): Promise<ConfinedProcess> {
    assertSpawnable(spec);
    const { argv, arg0, cwd, env, terminal } = spec;
    const policy = policyOfRequest(sandbox, { cwd, temporary: env.TMPDIR });
    const support = await sandboxSupport();
    const confinement = confine({ argv, arg0, cwd, env, terminal: terminal !== null }, { policy, support });
    return new ConfinedProcess(spec, policy, confinement);
  }

  get sandboxType(): SandboxType {
    return this.#confinement.sandboxType;
  }

  /** It will not be started after all. */
  discard(): void {
    this.started();
    this.ended();
  }

  /** The child has its copies of our descriptors, or never will. */
  started(): void {
    this.#confinement.release();
  }

  /** What was started for it has ended and was reaped, or could not be started at all. */
  ended(): void {
    this.#confinement.status?.over();
  }

  /** Resolves when the program itself runs. Throws if its sandbox ended before, once that is closed. */
  async ready({ closed, wasKilled, kill }: StartedSandbox): Promise<void> {
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      kill();
    }, SETUP_LIMIT_MS);
    const runs = (await this.#confinement.status?.commandRuns()) ?? true;
    clearTimeout(limit);
    // Whoever ended it himself wants to see the end of it.
    if (runs || (wasKilled() && !late)) return;
    await closed;
    throw this.#failure();
  }

  #failure(): ExecError {
    return explainSetupFailure(this.#tail, {
      name: this.#name,
      program: this.#confinement.program,
      cwd: this.#cwd,
    });
  }

  /** Sends a signal to the program inside. False where the child itself is the one to signal. */
  signal(signal: SignalName): boolean {
    const { status } = this.#confinement;
    void status?.signal(signal);
    return status !== null;
  }

  /** Remembers the last words: what a program says before it fails tells whether the policy was the reason. */
  heard(stream: OutputStream, bytes: Uint8Array): void {
    if (stream === 'stdout' || this.#confinement.status === null) return;
    const text = this.#decoder.decode(bytes.subarray(-DENIAL_TAIL_BYTES), { stream: true });
    this.#tail = (this.#tail + text).slice(-DENIAL_TAIL_BYTES);
  }

  denied(exitCode: number): boolean {
    return wasDenied(this.#policy, { exitCode, cwd: this.#cwd, outputTail: this.#tail });
  }
}
