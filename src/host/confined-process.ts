import type { OutputStream, SignalName } from '../contract/index.js';
import type { Sandbox, SandboxType } from '../protocol/index.js';
import type { ChildSpec } from './child/index.js';
import {
  type Confinement,
  confine,
  contextOf,
  DENIAL_TAIL_BYTES,
  policyFromPermissions,
  type SandboxPolicy,
  sandboxSupport,
  wasDenied,
} from './sandbox/index.js';

/** A program under a policy: what to start for it, and what is different about it while it runs. */
export class ConfinedProcess {
  /** What to start instead of the program itself. */
  readonly child: ChildSpec;
  readonly #confinement: Confinement;
  readonly #policy: SandboxPolicy;
  readonly #cwd: string;
  readonly #decoder = new TextDecoder();
  #tail = '';

  private constructor(spec: ChildSpec, policy: SandboxPolicy, confinement: Confinement) {
    this.#policy = policy;
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
    const policy = policyFromPermissions(sandbox.permissions, contextOf(sandbox, spec));
    const support = await sandboxSupport();
    const { argv, arg0, cwd, env, terminal } = spec;
    const confinement = confine({ argv, arg0, cwd, env, terminal: terminal !== null }, { policy, support });
    return new ConfinedProcess(spec, policy, confinement);
  }

  get sandboxType(): SandboxType {
    return this.#confinement.sandboxType;
  }

  /** The child has its copies of our descriptors, or never will. */
  started(): void {
    this.#confinement.release();
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
