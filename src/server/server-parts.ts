import { DEFAULT_WINDOW_BYTES, ServerInput } from '../contract/index.js';
import {
  ChangeSets,
  ConfinableFileSystem,
  hideFromSandboxes,
  packageFile,
  type ProcessTableOptions,
  reserveSpace,
} from '../host/index.js';
import { KEPT_SESSION } from '../protocol/index.js';
import { ByteBudget } from '../rpc/index.js';
import { ScreenRenderer } from '../screen/index.js';
import { Spool, type SpoolOptions } from '../spool/index.js';
import { BulkGarbage } from './bulk-garbage.js';
import { ownerOf } from './changes-owner.js';
import { DurableState } from './durable/durable-state.js';
import { keepChanges } from './durable/kept-changes.js';
import { adoptState } from './durable/adopt-state.js';
import type { ExecServerOptions } from './exec-server-options.js';
import { Keep } from './keep.js';
import { type ServerLog, silentLog } from './log.js';
import { observeProcesses, type ServerObserver } from './server-events.js';
import { SessionRegistry } from './session-registry.js';
import { Shares } from './shares.js';

/** The parts of a server that all of its connections share. */
export interface ServerParts {
  readonly log: ServerLog;
  readonly observe: ServerObserver;
  readonly sessions: SessionRegistry;
  readonly keep: Keep;
  readonly shares: Shares;
  readonly files: ConfinableFileSystem;
  readonly renderer: ScreenRenderer;
  readonly garbage: BulkGarbage;
  /** The message budget shared by all connections. */
  readonly budget: ByteBudget;
  readonly windowBytes: number;
  /** Null: output is in memory only. */
  readonly spool: Spool | null;
  /** Where changes are held; null if there is no such place. */
  readonly changes: ChangeSets | null;
  /** Null: nothing outlives the server. */
  readonly durable: DurableState | null;
}

/** Continues with what an earlier server left, if it left something. */
export function openParts(options: ExecServerOptions): ServerParts {
  const { log = silentLog, retainedBytes } = options;
  const observe = withDenialsLogged(options.observe, log);
  const files = new ConfinableFileSystem();
  const spool = openSpool(options.spool, log);
  const durable = options.durable && spool ? new DurableState(options.durable, { spool, log }) : null;
  const shares = new Shares(log, durable);
  const changes = openChanges(options);
  const windowBytes = Math.min(retainedBytes ?? DEFAULT_WINDOW_BYTES, DEFAULT_WINDOW_BYTES);
  const table: ProcessTableOptions = {
    retainedBytes,
    windowBytes,
    recycled: true,
  };
  const renderer = new ScreenRenderer(packageFile('dist/programs/screen-worker.js'));
  const keep = new Keep({
    table: { ...table, ...observeProcesses(observe, KEPT_SESSION) },
    changes,
    maxKeptProcesses: options.maxKeptProcesses,
    keepEndedMs: options.keepEndedMs,
    log,
    renderer,
  });
  const budget = new ByteBudget();
  const sessions = new SessionRegistry({
    sessionTtlMs: options.sessionTtlMs,
    maxSessions: options.maxSessions,
    table: { maxProcesses: options.maxProcesses, ...table },
    log,
    observe,
    budget,
    input: new ServerInput(),
    keep,
    changes,
    durable: durable ?? undefined,
  });
  if (durable && !options.durable?.isFirst)
    adoptState({ state: durable, sessions, keep, changes, shares, log, retainedBytes });
  const lives = (owner: string): boolean =>
    sessions.all().some((session) => ownerOf(session).session === owner);
  void changes?.recover({ lives });
  const garbage = new BulkGarbage(options.collectGarbage);
  return {
    log,
    observe,
    sessions,
    keep,
    shares,
    files,
    renderer,
    garbage,
    budget,
    windowBytes,
    spool,
    changes,
    durable,
  };
}

/** Ends all sessions and all processes, kept ones too. */
export async function closeParts(parts: ServerParts): Promise<void> {
  await Promise.all([parts.sessions.close(), parts.keep.close(), parts.files.close()]);
  await parts.changes?.close();
  parts.shares.close();
  await parts.renderer.close();
  parts.spool?.close();
  parts.durable?.close();
}

function openChanges({
  changesDirectory: directory,
  changesLimits: limits,
  durable,
}: ExecServerOptions): ChangeSets | null {
  if (directory === undefined) return null;
  return new ChangeSets({ directory, limits, keepingOf: durable && keepChanges(durable.keeper) });
}

/** Programs in sandboxes run as our user, and must not read what others printed. */
function openSpool(options: SpoolOptions | undefined, log: ServerLog): Spool | null {
  if (!options) return null;
  const onFailure = (error: Error): void =>
    log.warn({ reason: error.message }, 'the output of a process can no longer be written to disk');
  const spool = new Spool({ onFailure, ...options }, reserveSpace);
  hideFromSandboxes(spool.directory);
  return spool;
}

/** The log says why a program failed, even without an observer. */
function withDenialsLogged(observe: ServerObserver = () => undefined, log: ServerLog): ServerObserver {
  return (told) => {
    const { event, ...denial } = told;
    if (event === 'networkDenied') log.info(denial, 'the network policy denied a host');
    observe(told);
  };
}
