import type { LocalProcess } from './local-process.js';
import type { KeptUse } from './changes/index.js';
import type { LogArchive } from '../contract/index.js';
import type { ExistingProxyUse, NetworkUse } from './egress.js';
import type { NetworkDenials } from './network-denials.js';
import type { ProcessKeeping, TakenProcess } from './process-keeping.js';
import type { SandboxedLaunch } from './sandbox/index.js';
import type { ChildSpec } from './spawn/index.js';

/** What to start, and how. */
export interface LocalProcessSpec extends ChildSpec {
  readonly processId?: string;
  /** The sandbox it runs in, prepared for this very spec. */
  readonly confined?: SandboxedLaunch | undefined;
  /** The set that its changes are held in. */
  readonly changesId?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** The argv to report, if it differs from an equivalent one that is run. */
  readonly shownArgv?: readonly string[] | undefined;
  /** Its `exited` event reports what it cost. */
  readonly reportsUsage?: boolean | undefined;
  /** How the client introduced itself that starts it. */
  readonly startedBy?: string | undefined;
  /** A descriptor passed to the program as `SCRIPT_FD`. We take ownership. Not with `confined`, which has its own. */
  readonly script?: number | undefined;
  /** See `ConfinedSpec`. */
  readonly askedTemporary?: string | null | undefined;
  /** The hosts it may reach, whatever else its policy says about the network. Only under a policy. */
  readonly network?: NetworkUse | ExistingProxyUse | undefined;
  /** What the rules of its network keep it from. */
  readonly denials?: NetworkDenials | undefined;
  /** Makes the place where its output goes besides memory. Called for every attempt to start it. */
  readonly archive?: ((processId: string) => LogArchive) | undefined;
  /** With an archive: a slow reader does not pause the program. */
  readonly spills?: boolean | undefined;
  /** It may outlive its server. */
  readonly keeping?: ProcessKeeping | undefined;
  /** For every attempt to start it under a policy: makes what lets it outlive its server. Instead of `keeping`. */
  readonly begin?:
    | ((surroundings: Surroundings) => Pick<LocalProcessSpec, 'archive' | 'keeping' | 'spills'>)
    | undefined;
  /** An earlier server started it. Only with `keeping`. */
  readonly taken?: TakenProcess | undefined;
}

/** What the next server must know about a sandbox. */
export interface Surroundings {
  /** Where the existing proxies listen that it leads to. */
  readonly bridges?: readonly number[] | undefined;
  /** The files it sees, if its changes are held. */
  readonly held?: KeptUse | undefined;
}

export interface LocalProcessOptions {
  readonly retainedBytes?: number | undefined;
  readonly windowBytes?: number | undefined;
  /** Output is not kept beyond the log, except where retained: its memory is reused. */
  readonly recycled?: boolean | undefined;
  /** Called when a process has ended and its output is closed. */
  readonly onEnded?: ((process: LocalProcess) => void) | undefined;
}
