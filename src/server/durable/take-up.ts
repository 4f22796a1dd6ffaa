import { closeSync } from 'node:fs';
import { killUnknownTrees, rememberLeftTree } from '../../host/index.js';
import type { ServerLog } from '../log.js';
import type { Shares } from '../shares.js';
import { CHANGES_KEY } from './kept-changes.js';
import { type TakeUpContext, takeUpProcess } from './take-up-process.js';
import type {
  EndRecord,
  KillRecord,
  ProcessRecord,
  SandboxRecord,
  SessionRecord,
  ShareRecord,
  TreeRecord,
  UseRecord,
} from './records.js';

interface TakeUpOptions extends TakeUpContext {
  readonly shares: Shares;
  readonly log: ServerLog;
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
  const [ends, kills] = [byKey<EndRecord>('end'), byKey<KillRecord>('killAt')];
  const unused = byKey<{ sinceMs: number }>('unused');
  const sandboxes = byKey<SandboxRecord>('sandbox');
  for (const [key, record] of byKey<ProcessRecord>('process')) {
    const more = {
      end: ends.get(key),
      unusedSinceMs: unused.get(key)?.sinceMs,
      kill: kills.get(key),
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
      state.forgetProcess(key, state.inputNames(key));
    }
  }
  for (const [, record] of byKey<TreeRecord>('tree')) takeUpTree(options, record);
  for (const [, use] of byKey<UseRecord>('use')) takeUpUse(options, use);
  for (const [hash, share] of byKey<ShareRecord>('share')) takeUpShare(options, hash, share);
  for (const [key, { descriptors }] of keeper.inherited) {
    if (taken.has(key) || isOfNoProcess(key) || isOfChanges(options, key)) continue;
    for (const fd of Object.values(descriptors)) closeSync(fd);
    keeper.letGo(key);
  }
  void killUnknownTrees();
  log.info(
    { sessions: sessions.all().length, processes: taken.size },
    'continued where the server before ended',
  );
}

/** Programs run in this set of changes. */
function isOfChanges({ changes }: TakeUpOptions, key: string): boolean {
  return key.startsWith(CHANGES_KEY) && (changes?.isMounted(key.slice(CHANGES_KEY.length)) ?? false);
}

function isOfNoProcess(key: string): boolean {
  return key === LISTENER_KEY || key === ARRIVED_KEY || key.startsWith(CONNECTION_KEY);
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
