import { closeSync } from 'node:fs';
import { DEFAULT_RETAINED_BYTES, type ResumedLog } from '../../contract/index.js';
import {
  killUnknownTrees,
  type LocalProcessSpec,
  rememberLeftTree,
  SandboxedLaunch,
  terminalSize,
} from '../../host/index.js';
import type { LogTail } from '../../spool/index.js';
import type { Keep } from '../keep.js';
import type { ServerLog } from '../log.js';
import type { SessionRegistry } from '../session-registry.js';
import type { DurableState } from './durable-state.js';
import type { Shares } from '../shares.js';
import type {
  EndRecord,
  ProcessRecord,
  SandboxRecord,
  SessionRecord,
  ShareRecord,
  TreeRecord,
  UseRecord,
} from './records.js';

interface TakeUpOptions {
  readonly state: DurableState;
  readonly sessions: SessionRegistry;
  readonly keep: Keep;
  readonly shares: Shares;
  readonly log: ServerLog;
  readonly retainedBytes: number | undefined;
}

/** Descriptors of no process begin their key like this. */
export const LISTENER_KEY = 'listen';
export const ARRIVED_KEY = 'arrived';
export const CONNECTION_KEY = 'connection ';

/**
 * Continues with everything an earlier server left: sessions, their processes and logs, leases. What cannot be continued
 * is ended, and its clients learn that contact is lost.
 */
export function takeUpEverything(options: TakeUpOptions): void {
  const { state, sessions, log } = options;
  const { journal, keeper } = state;
  const byKey = <Value>(kind: string): Map<string, Value> =>
    new Map([...journal.all(`${kind} `)] as [string, Value][]);
  for (const [id, record] of byKey<SessionRecord>('session')) sessions.takeUp(id, record);
  const taken = new Set<string>();
  const [ends, kills] = [byKey<EndRecord>('end'), byKey<{ timeMs: number }>('killAt')];
  const unused = byKey<{ sinceMs: number }>('unused');
  const sandboxes = byKey<SandboxRecord>('sandbox');
  for (const [key, record] of byKey<ProcessRecord>('process')) {
    const more = {
      end: ends.get(key),
      unusedSinceMs: unused.get(key)?.sinceMs,
      killAtMs: kills.get(key)?.timeMs,
      initPid: sandboxes.get(key)?.initPid,
    };
    try {
      takeUpProcess(options, key, record, more);
      taken.add(key);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        { process: record.processId, reason },
        'a process of the server before could not be continued',
      );
      state.forgetProcess(key, Object.keys(keeper.inherited.get(key)?.descriptors ?? {}));
    }
  }
  for (const [, record] of byKey<TreeRecord>('tree')) takeUpTree(options, record);
  for (const [, use] of byKey<UseRecord>('use')) takeUpUse(options, use);
  for (const [hash, share] of byKey<ShareRecord>('share')) takeUpShare(options, hash, share);
  for (const [key, { descriptors }] of keeper.inherited) {
    if (taken.has(key) || isOfNoProcess(key)) continue;
    for (const fd of Object.values(descriptors)) closeSync(fd);
    keeper.letGo(key);
  }
  void killUnknownTrees();
  log.info(
    { sessions: sessions.all().length, processes: taken.size },
    'continued where the server before ended',
  );
}

function isOfNoProcess(key: string): boolean {
  return key === LISTENER_KEY || key === ARRIVED_KEY || key.startsWith(CONNECTION_KEY);
}

interface More {
  readonly end: EndRecord | undefined;
  readonly unusedSinceMs: number | undefined;
  readonly killAtMs: number | undefined;
  readonly initPid: number | undefined;
}

/** Throws if there is nothing to continue with. */
function takeUpProcess(
  { state, sessions, keep, retainedBytes }: TakeUpOptions,
  key: string,
  record: ProcessRecord,
  { end, unusedSinceMs, killAtMs, initPid }: More,
): void {
  const { owner, processId, argv, startedAtMs, deadlineMs, spills, root } = record;
  const session = 'session' in owner ? sessions.get(owner.session) : undefined;
  if ('session' in owner && !session) throw new Error('its session has ended');
  const held = state.keeper.inherited.get(key);
  const isClosed = end?.end.closedSeq != null;
  const output = state.output(key, record, { isNew: false });
  if (held?.spoiled || (!held && !isClosed)) {
    output.release();
    throw new Error('a part of it was only in the memory of that server');
  }
  const descriptors = held?.descriptors ?? {};
  const tail = output.resume(end?.end ?? null, retainedBytes ?? DEFAULT_RETAINED_BYTES);
  const confined = isClosed ? undefined : sandboxOf(record, { initPid, descriptors });
  const { master } = descriptors;
  const size = master === undefined ? null : terminalSize(master);
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
    confined,
    keeping: state.keeping(key, owner, { output, startedAtMs, root, names: Object.keys(descriptors) }),
    taken: {
      log: resumedLog(record, tail, end),
      unentered: tail.unentered,
      kept: { root, descriptors, hasExited: end !== undefined },
    },
  };
  if ('lease' in owner) keep.takeUp(owner.principal, spec, { lease: owner.lease, unusedSinceMs });
  else session?.takeUp(spec);
  if (killAtMs === undefined) return;
  const process =
    'lease' in owner ? keep.find(owner.principal, processId)?.process : session?.find(processId);
  void process?.terminate({ graceMs: Math.max(0, killAtMs - Date.now()) });
}

/** The sandbox it runs in, if it has one. Throws if that was not ready. */
function sandboxOf(
  { confined, argv, terminal, root }: ProcessRecord,
  { initPid, descriptors }: Pick<More, 'initPid'> & { descriptors: Readonly<Record<string, number>> },
): SandboxedLaunch | undefined {
  const { status } = descriptors;
  if (!confined) return undefined;
  if (initPid === undefined || status === undefined) throw new Error('its sandbox was not ready');
  const kept = { ...confined, terminal: terminal !== null, initPid, bwrapPid: root.pid, status };
  return SandboxedLaunch.adopt(argv, kept);
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

/** What is left of a tree ends with its owner. */
function takeUpTree({ state, sessions, keep }: TakeUpOptions, { root, owner }: TreeRecord): void {
  const key = `tree ${root.treeId}`;
  const forgotten =
    'session' in owner
      ? sessions.get(owner.session)?.processes.addTree(root.treeId)
      : keep.addTree(owner.principal, root.treeId);
  if (!forgotten) return state.forget(key);
  rememberLeftTree(root, () => {
    forgotten();
    state.forget(key);
  });
}

function takeUpShare({ state, keep, shares }: TakeUpOptions, hash: string, share: ShareRecord): void {
  const kept = keep.find(share.owner, share.processId);
  if (kept?.process.startedAtMs === share.startedAtMs) shares.takeUp(kept, hash, share);
  else state.forget(`share ${hash}`);
}

function takeUpUse({ state, sessions, keep }: TakeUpOptions, use: UseRecord): void {
  const { processId, owner, number, mayPause, keyboard, hasScreen, holds } = use;
  const session = sessions.get(use.session);
  const kept = keep.find(owner, processId);
  if (!session || !kept) return state.forgetUse(use);
  kept.continueNumbers(number);
  const access = holds && keyboard !== null ? 'take' : (keyboard ?? undefined);
  const afterSeq = kept.process.log.nextSeq - 1;
  session.takeUpKept(kept, { afterSeq, mayPause, keyboard: access, hasScreen, number });
}
