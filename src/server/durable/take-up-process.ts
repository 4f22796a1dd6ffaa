import { DEFAULT_RETAINED_BYTES, type ResumedLog } from '../../contract/index.js';
import {
  type ChangeSets,
  type HeldUse,
  KeptWay,
  type LocalProcessSpec,
  SandboxedLaunch,
  type TakenProcess,
  terminalSize,
} from '../../host/index.js';
import type { DurableOutput, LogTail } from '../../spool/index.js';
import type { Keep } from '../keep.js';
import type { Starter } from '../network/ask-clients.js';
import { networkLaunch } from '../network/proxy-launch.js';
import type { SessionRegistry } from '../session-registry.js';
import type { DurableState } from './durable-state.js';
import { CHANGES_KEY } from './kept-changes.js';
import type { EndRecord, KillRecord, ProcessOwner, ProcessRecord } from './records.js';

/** Where processes of an earlier server go on. */
export interface TakeUpContext {
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
  readonly unusedSinceMs: number | undefined;
  readonly kill: KillRecord | undefined;
  readonly initPid: number | undefined;
}

type Descriptors = Readonly<Record<string, number>>;

/** Throws if there is nothing to continue with. Then its output is gone, too, unless it is to be kept. */
export function takeUpProcess(context: TakeUpContext, key: string, record: ProcessRecord, more: More): void {
  const { state, retainedBytes } = context;
  const output = state.output(key, record, { isNew: false });
  try {
    const tail = output.resume(more.end?.end ?? null, retainedBytes ?? DEFAULT_RETAINED_BYTES);
    start(context, key, record, { ...more, output, tail });
  } catch (error) {
    output.release();
    throw error;
  }
}

function start(
  context: TakeUpContext,
  key: string,
  record: ProcessRecord,
  { output, tail, end, unusedSinceMs, kill, initPid }: More & { output: DurableOutput; tail: LogTail },
): void {
  const { state, keep, sessions } = context;
  const { owner, processId, argv, startedAtMs, deadlineMs, spills, root } = record;
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
  const around = isClosed ? null : surroundingsOf(context, record, { initPid, descriptors });
  const spec: LocalProcessSpec & { processId: string } = {
    processId,
    argv,
    cwd: '/',
    env: {},
    stdin: 'pipe',
    terminal: record.terminal && (size ?? record.terminal),
    timeoutMs: deadlineMs === null || end ? undefined : Math.max(1, deadlineMs - Date.now()),
    archive: () => output,
    spills,
    confined: around?.confined,
    changesId: around?.held?.changesId,
    keeping: state.keeping(key, owner, { output, startedAtMs, root, names }),
    taken: {
      log: resumedLog(record, tail, end),
      unentered: tail.unentered,
      kept: { root, descriptors, hasExited: end !== undefined },
      inputNames: names,
      timedOut: kill?.timedOut ?? false,
      way: around?.way,
      held: around?.held,
    },
  };
  if ('lease' in owner) keep.takeUp(owner.principal, spec, { lease: owner.lease, unusedSinceMs });
  else session?.takeUp(spec);
  if (kill === undefined) return;
  const process =
    'lease' in owner ? keep.find(owner.principal, processId)?.process : session?.find(processId);
  void process?.terminate({ graceMs: Math.max(0, kill.timeMs - Date.now()) });
}

/** The sandbox it runs in, with all that belongs to it; null if it has none. Throws if that was not ready. */
function surroundingsOf(
  context: TakeUpContext,
  record: ProcessRecord,
  { initPid, descriptors }: Pick<More, 'initPid'> & { descriptors: Descriptors },
): { confined: SandboxedLaunch; held: HeldUse | undefined; way: TakenProcess['way'] } | null {
  const { confined, argv, terminal, root } = record;
  const { status } = descriptors;
  if (!confined) return null;
  if (initPid === undefined || status === undefined) throw new Error('its sandbox was not ready');
  const way = wayOf(context, record, descriptors);
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
      isManaged: way !== undefined,
      held: held?.view,
    });
    return { confined: launch, held, way };
  } catch (error) {
    held?.close();
    throw error;
  }
}

/** Its way out through rules for hosts, or through a proxy that exists already. */
function wayOf(
  { sessions }: TakeUpContext,
  { processId, owner, confined }: ProcessRecord,
  descriptors: Descriptors,
): TakenProcess['way'] {
  if (!confined) return undefined;
  const { sandbox, network: asked = {}, surroundings } = confined;
  const place = { session: starterOf(owner, sessions), sessions };
  const { network } = networkLaunch(place, { processId, sandbox, ...asked });
  if (!network) return undefined;
  const kept = KeptWay.of(descriptors);
  if (!kept) throw new Error('its network is gone');
  const use = 'existingProxy' in network ? { bridges: surroundings?.bridges ?? [] } : network;
  return { use, kept };
}

/** Of a process with a lease, whoever uses it is asked. */
function starterOf(owner: ProcessOwner, sessions: SessionRegistry): Starter {
  const session = 'session' in owner ? sessions.get(owner.session) : undefined;
  const principal = 'lease' in owner ? owner.principal : undefined;
  return session ?? { principal, connection: undefined };
}

/** The files it sees. Other programs of the same set may have brought it along already. */
function heldBy({ state, changes }: TakeUpContext, { confined }: ProcessRecord): HeldUse | undefined {
  const kept = confined?.surroundings?.held;
  if (!kept) return undefined;
  const inherited = state.keeper.inherited.get(`${CHANGES_KEY}${kept.folder}`);
  if (!changes || !inherited || inherited.spoiled) throw new Error('its held changes cannot be reached');
  return changes.takeUp(kept, inherited.descriptors);
}

function resumedLog(
  { startedAtMs }: ProcessRecord,
  { points, tail }: LogTail,
  end: EndRecord | undefined,
): ResumedLog {
  if (!end) return { startMs: startedAtMs, points, tail, exited: null, closedSeq: null };
  const { exitedSeq: seq, exitCode, signal, timedOut, sandboxDenied, closedSeq } = end.end;
  const event = { type: 'exited', seq, exitCode, signal, timedOut, sandboxDenied } as const;
  return { startMs: startedAtMs, points, tail, exited: { event, offset: end.offset }, closedSeq };
}
