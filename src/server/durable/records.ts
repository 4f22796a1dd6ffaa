import type { TerminalSize } from '../../contract/index.js';
import type { Surroundings, TreeRoot } from '../../host/index.js';
import type { ExecParsedParams, Lease, Sandbox } from '../../protocol/index.js';
import type { StoredEnd } from '../../spool/index.js';

/** What a journal says. Keys are `clock`, `session ID`, `process KEY`, `sandbox KEY`, `stopped KEY`, `end KEY`, `unused KEY`, `left KEY`, `killAt KEY`, `tree ID`, `use …`, `share HASH`, `connection N`. */

export interface SessionRecord {
  readonly acknowledged: boolean;
  readonly principal: string | null;
  /** When it lost its connection; null while it has one. */
  readonly detachedAtMs: number | null;
}

/** Whose process it is. */
export type ProcessOwner =
  | { readonly session: string }
  | { readonly principal: string; readonly lease: Lease };

export interface ProcessRecord {
  readonly processId: string;
  readonly owner: ProcessOwner;
  /** The session that started it, of a process with a lease. It uses it from then on, unless it has left. */
  readonly starter?: string;
  readonly argv: readonly string[];
  /** Where it was started. */
  readonly cwd?: string | undefined;
  /** The name by which its client introduced itself. */
  readonly startedBy?: string | undefined;
  readonly terminal: TerminalSize | null;
  readonly startedAtMs: number;
  /** When it times out. */
  readonly deadlineMs: number | null;
  /** Its output stays on disk. */
  readonly keep: boolean;
  readonly spills: boolean;
  /** Its end says what it cost. */
  readonly reportsUsage?: boolean | undefined;
  /** The policy it runs under, and what that depends on. */
  readonly confined?: {
    readonly sandbox: Sandbox;
    readonly cwd: string;
    readonly temporary: string | null;
    /** What the start asked of the network beside the policy. */
    readonly network?: Pick<ExecParsedParams<'process/start'>, 'networkProxy' | 'enforceManagedNetwork'>;
    readonly surroundings?: Surroundings;
  } | null;
  /** The owner of its output on disk. */
  readonly spoolOwner: string;
  readonly root: TreeRoot;
}

/** Its sandbox was ready. */
export interface SandboxRecord {
  /** The first process inside. */
  readonly initPid: number;
}

/** When it is to be killed. */
export interface KillRecord {
  readonly timeMs: number;
  readonly timedOut?: boolean;
}

/** Since when it has been unused. */
export interface UnusedRecord {
  readonly sinceMs: number;
}

/** How it ended, and how much it had printed then. */
export interface EndRecord {
  readonly end: StoredEnd;
  readonly offset: number;
}

/** What a forgotten process left in the background. */
export interface TreeRecord {
  readonly root: TreeRoot;
  readonly owner: ProcessOwner;
}

/** Leave to view a kept process, by the hash of its token. */
export interface ShareRecord {
  readonly id: string;
  readonly owner: string;
  readonly processId: string;
  /** Of the process: another one may get its id. */
  readonly startedAtMs: number;
  /** How long it was to be valid. */
  readonly forMs: number;
  readonly expiresAtMs: number;
}

/** How far the output of a process has been sent to a client, and acknowledged by it. */
export interface PushPosition {
  readonly position: number;
  readonly settled: number;
}

/** A connection that another server has given away. */
export interface ConnectionRecord {
  /** The number of the address it came in at. */
  readonly door: number;
  readonly principal: string;
  /** What was read from it and not acted on, in base64. Until version 3; since then, it is in a file with its socket. */
  readonly unread?: string;
  readonly handshake: {
    readonly session: string;
    readonly clientName: string;
    readonly isReady: boolean;
    readonly sendsEarly: boolean;
    readonly answersQuestions?: boolean;
    readonly binaryFrames: boolean;
    readonly positions: Readonly<Record<string, PushPosition>>;
    /** To be repeated; a change meanwhile is to be reported. */
    readonly missingWatch: ExecParsedParams<'fs/watchMissing'> | null;
  } | null;
}

/** How a session uses a kept process. */
export interface UseRecord {
  readonly session: string;
  readonly processId: string;
  readonly owner: string;
  readonly number: number;
  readonly mayPause: boolean;
  readonly keyboard: 'take' | 'ifFree' | 'none' | 'view' | null;
  readonly hasScreen: boolean;
  /** It has the keyboard. */
  readonly holds: boolean;
}
