import { closeSync } from 'node:fs';
import { killUnknownTrees, rememberLeftTree, type StoppedSandbox } from '../../host/index.js';
import type { ServerLog } from '../log.js';
import type { Shares } from '../shares.js';
import { CHANGES_KEY } from './kept-changes.js';
import { type AdoptionContext, adoptProcess } from './adopt-process.js';
import type {
  EndRecord,
  KillRecord,
  ProcessRecord,
  SandboxRecord,
  SessionRecord,
  ShareRecord,
  TreeRecord,
  UnusedRecord,
  UseRecord,
} from './records.js';

interface AdoptionOptions extends AdoptionContext {
  readonly shares: Shares;
  readonly log: ServerLog;
}

/** Keys of descriptors that belong to no process begin like this. */
export const LISTENER_KEY = 'listen';
export const ARRIVED_KEY = 'arrived';
export const CONNECTION_KEY = 'connection ';

/**
 * Continues with everything an earlier server left: sessions, their processes and logs, leases. What cannot be continued
 * is ended, and its clients learn that contact is lost.
 */
export function adoptState(options: AdoptionOptions): void {
  const { state, sessions, log } = options;
  const { journal, keeper } = state;
  const byKey = <Value>(kind: string): Map<string, Value> =>
    new Map([...journal.all(`${kind} `)] as [string, Value][]);
  const wallClock = (timeMs: number): number => state.clock.toWallClock(timeMs);
  for (const [id, record] of byKey<SessionRecord>('session')) {
    const { detachedAtMs } = record;
    sessions.adopt(id, { ...record, detachedAtMs: detachedAtMs === null ? null : wallClock(detachedAtMs) });
  }
  const taken = new Set<string>();
  const [uses, left] = [byKey<UseRecord>('use'), byKey('left')];
  const [ends, kills] = [byKey<EndRecord>('end'), byKey<KillRecord>('killAt')];
  const unused = byKey<UnusedRecord>('unused');
  const sandboxes = byKey<SandboxRecord>('sandbox');
  const stopped = byKey<StoppedSandbox>('stopped');
  for (const [key, record] of byKey<ProcessRecord>('process')) {
    const more = {
      end: ends.get(key),
      unused: unused.get(key),
      kill: kills.get(key),
      initPid: sandboxes.get(key)?.initPid,
      stopped: stopped.get(key),
    };
    try {
      adoptProcess(options, key, record, more);
      taken.add(key);
      const first = left.has(key) ? null : firstUse(record);
      if (first && !uses.has(`${first.session} ${first.processId}`)) uses.set(key, first);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        { process: record.processId, reason },
        'a process of the previous server could not be continued',
      );
      state.forgetProcess(key, state.inputNames(key));
    }
  }
  for (const [, record] of byKey<TreeRecord>('tree')) adoptTree(options, record);
  for (const use of uses.values()) adoptUse(options, use);
  for (const [hash, share] of byKey<ShareRecord>('share')) adoptShare(options, hash, share);
  for (const [key, { descriptors }] of keeper.inherited) {
    if (taken.has(key) || isOfNoProcess(key) || isOfChanges(options, key)) continue;
    for (const fd of Object.values(descriptors)) closeSync(fd);
    keeper.letGo(key);
  }
  void killUnknownTrees();
  log.info(
    { sessions: sessions.all().length, processes: taken.size },
    'continued where the previous server had ended',
  );
}

/** Programs run in this set of changes. */
function isOfChanges({ changes }: AdoptionOptions, key: string): boolean {
  return key.startsWith(CHANGES_KEY) && (changes?.isMounted(key.slice(CHANGES_KEY.length)) ?? false);
}

function isOfNoProcess(key: string): boolean {
  return key === LISTENER_KEY || key === ARRIVED_KEY || key.startsWith(CONNECTION_KEY);
}

/** The rest of a tree ends with its owner. */
function adoptTree({ state, sessions, keep }: AdoptionOptions, { root, owner }: TreeRecord): void {
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

function adoptShare({ state, keep, shares }: AdoptionOptions, hash: string, share: ShareRecord): void {
  const kept = keep.find(share.owner, share.processId);
  const expiresAtMs = state.clock.toWallClock(share.expiresAtMs);
  if (kept?.process.startedAtMs === share.startedAtMs) shares.adopt(kept, hash, { ...share, expiresAtMs });
  else state.forget(`share ${hash}`);
}

/** By the session that started it. If that was all the server before came to, it has no record of its own. */
function firstUse({ owner, starter, processId }: ProcessRecord): UseRecord | null {
  if (starter === undefined || !('lease' in owner)) return null;
  const asStarted = { number: 1, mayPause: true, keyboard: null, hasScreen: false, holds: false };
  return { session: starter, processId, owner: owner.principal, ...asStarted };
}

function adoptUse({ state, sessions, keep }: AdoptionOptions, use: UseRecord): void {
  const { processId, owner, number, mayPause, keyboard, hasScreen, holds } = use;
  const session = sessions.get(use.session);
  const kept = keep.find(owner, processId);
  if (!session || !kept) return state.forgetUse(use);
  kept.continueNumbers(number);
  const access = holds && keyboard !== null ? 'take' : (keyboard ?? undefined);
  const afterSeq = kept.process.log.nextSeq - 1;
  session.adoptKept(kept, { afterSeq, mayPause, keyboard: access, hasScreen, number });
}
