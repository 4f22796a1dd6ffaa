import { DEFAULT_RETAINED_BYTES, type ResumedLog } from '../../contract/index.js';
import {
  type ChangeSets,
  type HeldUse,
  KeptEgress,
  type LocalProcessSpec,
  type ProcessKeeping,
  SandboxedLaunch,
  type StoppedSandbox,
  type TakenProcess,
  terminalSize,
} from '../../host/index.js';
import { type DurableOutput, exitedEvent, type LogTail } from '../../spool/index.js';
import type { Keep } from '../keep.js';
import type { Starter } from '../network/ask-clients.js';
import { networkLaunch } from '../network/proxy-launch.js';
import type { SessionRegistry } from '../session-registry.js';
import type { DurableState } from './durable-state.js';
import { CHANGES_KEY } from './kept-changes.js';
import type { EndRecord, KillRecord, ProcessOwner, ProcessRecord, UnusedRecord } from './records.js';

/** What processes of an earlier server continue in. */
export interface AdoptionContext {
  readonly state: DurableState;
  readonly sessions: SessionRegistry;
  readonly keep: Keep;
  /** Null if no changes can be held. */
  readonly changes: ChangeSets | null;
  readonly retainedBytes: number | undefined;
}

/** What the journal says of a process besides its record. */
interface More {
  readonly end: EndRecord | undefined;
  readonly unused: UnusedRecord | undefined;
  readonly kill: KillRecord | undefined;
  readonly initPid: number | undefined;
  readonly stopped: StoppedSandbox | undefined;
}

type Descriptors = Readonly<Record<string, number>>;

/** Throws if there is nothing to continue with. Then its output is gone, too, unless it is to be kept. */
export function adoptProcess(context: AdoptionContext, key: string, record: ProcessRecord, more: More): void {
  const { state, retainedBytes } = context;
  const output = state.output(key, record, { isNew: false });
  try {
    const tail = output.resume(more.end?.end ?? null, retainedBytes ?? DEFAULT_RETAINED_BYTES);
    start(context, key, record, { ...more, output, tail });
    // Only while somebody writes there: there may be room for those of few processes at a time.
    output.close();
  } catch (error) {
    output.release();
    throw error;
  }
}

function start(
  context: AdoptionContext,
  key: string,
  record: ProcessRecord,
  more: More & { output: DurableOutput; tail: LogTail },
): void {
  const { output, tail, end, unused, kill } = more;
  const { state, keep, sessions } = context;
  const wallClock = (timeMs: number): number => state.clock.toWallClock(timeMs);
  const { owner, starter, processId, argv, startedAtMs, deadlineMs, spills, reportsUsage, root } = record;
  const session = 'session' in owner ? sessions.get(owner.session) : undefined;
  if ('session' in owner && !session) throw new Error('its session has ended');
  const inherited = state.keeper.inherited.get(key);
  const isClosed = end?.end.closedSeq != null;
  if (inherited?.spoiled || (!inherited && !isClosed))
    throw new Error('a part of it was only in the memory of that server');
  const descriptors = inherited?.descriptors ?? {};
  const { master } = descriptors;
  const size = master === undefined ? null : terminalSize(master);
  const names = [...Object.keys(descriptors), ...state.inputNames(key)];
  const keeping = state.keeping(key, owner, { output, startedAtMs, starter, root, names });
  const around = isClosed ? null : surroundingsOf(context, record, { ...more, descriptors, keeping });
  const spec: LocalProcessSpec & { processId: string } = {
    processId,
    argv,
    cwd: '/',
    startedBy: record.startedBy,
    env: {},
    stdin: 'pipe',
    terminal: record.terminal && (size ?? record.terminal),
    timeoutMs: deadlineMs === null || end ? undefined : Math.max(1, wallClock(deadlineMs) - Date.now()),
    archive: () => output,
    spills,
    reportsUsage,
    confined: around?.confined,
    changesId: around?.held?.changesId,
    keeping,
    taken: {
      log: resumedLog(record, tail, end),
      unentered: tail.unentered,
      kept: { root, descriptors, hasExited: end !== undefined },
      inputNames: names,
      cwd: record.cwd,
      timedOut: kill?.timedOut ?? false,
      endedAtMs: end?.end.exitedAtMs,
      egress: around?.egress,
      held: around?.held,
    },
  };
  const unusedSinceMs = unused && wallClock(unused.sinceMs);
  if ('lease' in owner) keep.adopt(owner.principal, spec, { lease: owner.lease, unusedSinceMs });
  else session?.adopt(spec);
  if (kill === undefined) return;
  const process =
    'lease' in owner ? keep.find(owner.principal, processId)?.process : session?.find(processId);
  void process?.terminate({ graceMs: Math.max(0, wallClock(kill.timeMs) - Date.now()) });
}

/** The sandbox it runs in, with all that belongs to it; null if it has none. Throws if that was not ready. */
function surroundingsOf(
  context: AdoptionContext,
  record: ProcessRecord,
  kept: Pick<More, 'initPid' | 'stopped'> & { descriptors: Descriptors; keeping: ProcessKeeping },
): { confined: SandboxedLaunch; held: HeldUse | undefined; egress: TakenProcess['egress'] } | null {
  const { confined, argv, terminal, root } = record;
  const { initPid, stopped, descriptors, keeping } = kept;
  const { status } = descriptors;
  if (!confined) return null;
  if (initPid === undefined || status === undefined) throw new Error('its sandbox was not ready');
  const egress = egressOf(context, record, descriptors);
  const held = heldBy(context, record);
  const { sandbox, cwd, temporary } = confined;
  try {
    const launch = SandboxedLaunch.adopt(argv, {
      sandbox,
      cwd,
      temporary,
      terminal: terminal !== null,
      initPid,
      bwrapPid: root.pid,
      status,
      isManaged: egress !== undefined,
      held: held?.view,
      keeping,
      stopped,
    });
    return { confined: launch, held, egress };
  } catch (error) {
    held?.close();
    throw error;
  }
}

/** Its egress: through rules for hosts, or through an existing proxy. */
function egressOf(
  { sessions }: AdoptionContext,
  { processId, owner, confined }: ProcessRecord,
  descriptors: Descriptors,
): TakenProcess['egress'] {
  if (!confined) return undefined;
  const { sandbox, network: asked = {}, surroundings } = confined;
  const place = { session: starterOf(owner, sessions), sessions };
  const { network } = networkLaunch(place, { processId, sandbox, ...asked });
  if (!network) return undefined;
  const kept = KeptEgress.of(descriptors);
  if (!kept) throw new Error('its network is gone');
  const use = 'existingProxy' in network ? { bridges: surroundings?.bridges ?? [] } : network;
  return { use, kept };
}

/** For a process with a lease, the clients that use it are asked. */
function starterOf(owner: ProcessOwner, sessions: SessionRegistry): Starter {
  const session = 'session' in owner ? sessions.get(owner.session) : undefined;
  const principal = 'lease' in owner ? owner.principal : undefined;
  return session ?? { principal, connection: undefined };
}

/** The files it sees. Other programs of the same set may have brought it along already. */
function heldBy({ state, changes }: AdoptionContext, { confined }: ProcessRecord): HeldUse | undefined {
  const kept = confined?.surroundings?.held;
  if (!kept) return undefined;
  const inherited = state.keeper.inherited.get(`${CHANGES_KEY}${kept.folder}`);
  if (!changes || !inherited || inherited.spoiled) throw new Error('its held changes cannot be reached');
  return changes.adopt(kept, inherited.descriptors);
}

function resumedLog(
  { startedAtMs }: ProcessRecord,
  { points, tail }: LogTail,
  end: EndRecord | undefined,
): ResumedLog {
  if (!end) return { startMs: startedAtMs, points, tail, exited: null, closedSeq: null };
  const exited = { event: exitedEvent(end.end), offset: end.offset };
  return { startMs: startedAtMs, points, tail, exited, closedSeq: end.end.closedSeq };
}
