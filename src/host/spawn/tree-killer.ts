import { setImmediate as nextTurn } from 'node:timers/promises';
import { findKin, type Kin } from './process-trees.js';
import { forgetTree } from './empty-trees.js';
import { knownTrees } from './known-trees.js';
import { isSame, type Scan, type ScannedProcess, scanNow, scanWithBreaks } from './process-scan.js';
import { nextExit } from './reaper.js';
import { slackOf } from './timer-slack.js';

/** A tree that SIGKILL does not end within this time hangs in the kernel or belongs to another user. */
const GIVE_UP_MS = 5000;
/** Between two looks: a killed process needs about a millisecond to be gone. */
const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 50;
/** Looks until nobody new is found in a tree that was stopped. Each finds a generation; more mean that stopping does not help. */
const MAX_STOPS = 25;

/** Whose trees are meant. */
type TreeIds = ReadonlySet<number> | 'all';

interface KillOrder {
  readonly treeIds: TreeIds;
  readonly giveUpAt: number;
  readonly resolve: (gone: boolean) => void;
  /** Who got the signal but may need a moment; without marks they cannot be told once their parent is gone. */
  readonly killed: Map<number, ScannedProcess>;
  /** Who was told to stop, by number and start. */
  readonly stopped: Set<string>;
  stops: number;
  /** Scans in a row that found nobody. */
  emptyScans: number;
}

const orders = new Set<KillOrder>();
let sweeping = false;

/** SIGKILLs these trees. True once none of their processes is left, false after 5 s. */
export function killTrees(treeIds: Iterable<number>): Promise<boolean> {
  return order(new Set(treeIds));
}

/** SIGKILLs everything this server ever started that still runs. */
export function killAllTrees(): Promise<boolean> {
  return order('all');
}

/** Who of a tree runs at this moment. */
export function livingMembers(treeId: number): readonly ScannedProcess[] {
  return pickMembers(findKin(scanNow()), new Set([treeId]));
}

let looking: Promise<void> | undefined;

/**
 * Looks who belongs to which tree, for later: those who do not carry the mark may lose their parents, while a polite signal
 * goes round. Needless where they are known by the number of their tree.
 */
export function lookAtTrees(): Promise<void> {
  if (slackOf(0) !== 0) return Promise.resolve();
  looking ??= scanWithBreaks()
    .then((scan) => void findKin(scan))
    .finally(() => {
      looking = undefined;
    });
  return looking;
}

function order(treeIds: TreeIds): Promise<boolean> {
  return new Promise((resolve) => {
    orders.add({
      treeIds,
      resolve,
      giveUpAt: performance.now() + GIVE_UP_MS,
      emptyScans: 0,
      killed: new Map(),
      stopped: new Set(),
      stops: 0,
    });
    if (!sweeping) void sweep();
  });
}

/** One loop serves all orders, so that kills asked for in the same turn share their scans. */
async function sweep(): Promise<void> {
  sweeping = true;
  let pauseMs = FIRST_PAUSE_MS;
  await nextTurn();
  while (orders.size > 0) {
    // A scan says nothing about orders that were given after it began.
    const batch = [...orders];
    const known = new Set(knownTrees().keys());
    const scan = await scanWithBreaks();
    const seen = { ...scan, known, kin: findKin(scan), byPid: indexByPid(scan.processes) };
    const stopping = batch.map((each) => carryOut(each, seen));
    if (orders.size === 0) break;
    if (stopping.includes('stopping')) continue;
    await nextExit(pauseMs);
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
  }
  sweeping = false;
}

/** What a scan has shown, and which trees were there before it. */
type Seen = Scan & {
  readonly known: ReadonlySet<number>;
  readonly kin: Kin;
  readonly byPid: ReadonlyMap<number, ScannedProcess>;
};

/** An empty scan proves that nobody is left, unless a process ended meanwhile that may have forked: then look twice. */
function carryOut(each: KillOrder, seen: Seen): 'stopping' | 'going on' {
  const members = pickMembers(seen.kin, each.treeIds);
  if (stopNewcomers(each, members)) return 'stopping';
  for (const member of members) {
    sendTo(member, 'SIGKILL');
    each.killed.set(member.pid, member);
  }
  killGroups(each.treeIds);
  const somebody = members.length > 0 || [...each.killed.values()].some((killed) => isThere(killed, seen));
  each.emptyScans = somebody || seen.incomplete ? 0 : each.emptyScans + 1;
  const gone = each.emptyScans > (seen.unsettled ? 1 : 0);
  if (!gone && performance.now() < each.giveUpAt) return 'going on';
  orders.delete(each);
  if (gone) for (const treeId of each.treeIds === 'all' ? seen.known : each.treeIds) forgetTree(treeId);
  each.resolve(gone);
  return 'going on';
}

/**
 * Who carries no mark is known by its parents, and would be lost if these died while it forks. So where there is such a
 * process nobody dies before all of them have been seen: they are stopped, until a look finds nobody new.
 */
function stopNewcomers(each: KillOrder, members: readonly ScannedProcess[]): boolean {
  if (each.stops >= MAX_STOPS || !members.some(({ treeId }) => treeId === null)) return false;
  const newcomers = members.filter((member) => !each.stopped.has(nameOf(member)));
  for (const member of newcomers) {
    each.stopped.add(nameOf(member));
    sendTo(member, 'SIGSTOP');
  }
  if (newcomers.length > 0) each.stops += 1;
  return newcomers.length > 0;
}

function nameOf({ pid, startTick }: ScannedProcess): string {
  return `${pid} ${startTick}`;
}

function isThere({ pid, startTick }: ScannedProcess, { byPid }: Seen): boolean {
  return byPid.get(pid)?.startTick === startTick;
}

function indexByPid(processes: readonly ScannedProcess[]): Map<number, ScannedProcess> {
  return new Map(processes.map((each) => [each.pid, each]));
}

/** What may belong to somebody else, too, is killed with the last of those it may belong to. */
function pickMembers({ families, strays }: Kin, treeIds: TreeIds): ScannedProcess[] {
  const lone = strays.filter(
    (stray) => treeIds === 'all' || stray.treeIds.every((treeId) => treeIds.has(treeId)),
  );
  return [...pick(families, treeIds).flat(), ...lone.flatMap(({ members }) => members)];
}

/** For whatever a scan could not see, for want of descriptors: its end gives some back. */
function killGroups(treeIds: TreeIds): void {
  for (const { root, reapedAt } of pick(knownTrees(), treeIds)) {
    if (reapedAt === Number.POSITIVE_INFINITY) sendSignal(-root.pid, 'SIGKILL');
  }
}

/** By look-up, not by search: a thousand orders may be under way for a thousand trees. */
function pick<T>(byTree: ReadonlyMap<number, T>, treeIds: TreeIds): T[] {
  if (treeIds === 'all') return [...byTree.values()];
  return [...treeIds].flatMap((treeId) => {
    const found = byTree.get(treeId);
    return found === undefined ? [] : [found];
  });
}

/** Only if it is still the one that was seen. */
function sendTo(member: ScannedProcess, signal: string): void {
  if (isSame(member)) sendSignal(member.pid, signal);
}

/** True if somebody was there to get it, though perhaps out of our power. */
export function sendSignal(pid: number, signal: string | number): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
