import { setImmediate as nextTurn } from 'node:timers/promises';
import { ancestorsFirst } from './ancestors-first.js';
import { type ProcessTrees, sortIntoTrees, type SortedProcesses } from './process-trees.js';
import { forgetTree } from './empty-trees.js';
import { knownTrees } from './known-trees.js';
import { isSame, type Scan, type ScannedProcess, scanNow, scanWithBreaks } from './process-scan.js';
import { nextExit } from './reaper.js';
import { slackOf } from './timer-slack.js';
import { newestTreeId } from './tree-mark.js';

/** A tree that survives SIGKILL this long hangs in the kernel or belongs to another user. */
const GIVE_UP_MS = 5000;
/** Delay between scans: a killed process takes about a millisecond to disappear. */
const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 50;
/**
 * Scans until no new member turns up in a stopped tree. Each finds one generation; beyond this, stopping does not help.
 */
const MAX_STOPS = 25;
/** Scans for trees of earlier servers, if processes keep ending meanwhile: to hide from all of them takes an accident each. */
const UNKNOWN_SCANS = 4;

/** The trees an order applies to. */
type TreeIds = ReadonlySet<number> | 'all';

interface KillOrder {
  readonly treeIds: TreeIds;
  readonly giveUpAt: number;
  readonly resolve: (gone: boolean) => void;
  /**
   * Processes that got the signal but may need a moment; without marks they cannot be recognized once their parent is
   * gone.
   */
  readonly killed: Map<number, ScannedProcess>;
  /** Processes that were stopped, by pid and start. */
  readonly stopped: Set<string>;
  stops: number;
  /** Consecutive scans that found nobody. */
  emptyScans: number;
}

const orders = new Set<KillOrder>();
let sweeping = false;

/** Sends SIGKILL to these trees. Resolves to true once none of their processes is left, false after 5 s. */
export function killTrees(treeIds: Iterable<number>): Promise<boolean> {
  return order(new Set(treeIds));
}

/** Kills everything this server ever started that is still running. */
export function killAllTrees(): Promise<boolean> {
  return order('all');
}

/**
 * Kills what earlier servers of the line started and nobody has taken up. Resolves when nothing is left of it. Call before
 * anything is started.
 */
export async function killUnknownTrees(): Promise<void> {
  const newest = newestTreeId();
  let scan = scanNow();
  for (let left = UNKNOWN_SCANS; left > 0; left -= 1) {
    const found = [...sortIntoTrees(scan).trees.keys()];
    const unknown = found.filter((treeId) => treeId <= newest && !knownTrees().has(treeId));
    if (unknown.length > 0) await killTrees(unknown);
    // What forked and ended while we looked may have left a tree that we did not see.
    if (!scan.unsettled && !scan.incomplete) return;
    await nextExit(LAST_PAUSE_MS);
    scan = await scanWithBreaks();
  }
}

/** The members of a tree that are running right now. */
export function livingMembers(treeId: number): readonly ScannedProcess[] {
  return pickMembers(sortIntoTrees(scanNow()), new Set([treeId]));
}

/** The running members of every tree. */
export async function currentTrees(): Promise<ProcessTrees> {
  return sortIntoTrees(await scanWithBreaks()).trees;
}

let looking: Promise<void> | undefined;

/**
 * Records which process belongs to which tree, for later: those without a mark may lose their parents while a polite
 * signal is being handled. Unnecessary if timer slack identifies their tree.
 */
export function recordTrees(): Promise<void> {
  if (slackOf(0) !== 0) return Promise.resolve();
  looking ??= scanWithBreaks()
    .then((scan) => void sortIntoTrees(scan))
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

/** One loop serves all orders, so that kills requested in the same turn share their scans. */
async function sweep(): Promise<void> {
  sweeping = true;
  let pauseMs = FIRST_PAUSE_MS;
  await nextTurn();
  while (orders.size > 0) {
    // A scan says nothing about orders given after it began.
    const batch = [...orders];
    const known = new Set(knownTrees().keys());
    const scan = await scanWithBreaks();
    const seen = { ...scan, known, sorted: sortIntoTrees(scan), byPid: indexByPid(scan.processes) };
    const stopping = batch.map((each) => carryOut(each, seen));
    if (orders.size === 0) break;
    if (stopping.includes('stopping')) continue;
    await nextExit(pauseMs);
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
  }
  sweeping = false;
}

/** The result of a scan, and the trees that existed before it. */
type Seen = Scan & {
  readonly known: ReadonlySet<number>;
  readonly sorted: SortedProcesses;
  readonly byPid: ReadonlyMap<number, ScannedProcess>;
};

/** An empty scan proves that nobody is left, unless a process ended meanwhile that may have forked: then scan again. */
function carryOut(each: KillOrder, seen: Seen): 'stopping' | 'going on' {
  const members = pickMembers(seen.sorted, each.treeIds);
  if (stopNewcomers(each, members)) return 'stopping';
  for (const member of ancestorsFirst(members)) {
    sendTo(member, 'SIGKILL');
    each.killed.set(member.pid, member);
  }
  killGroups(each.treeIds);
  const anyLeft = members.length > 0 || [...each.killed.values()].some((killed) => isThere(killed, seen));
  each.emptyScans = anyLeft || seen.incomplete ? 0 : each.emptyScans + 1;
  const gone = each.emptyScans > (seen.unsettled ? 1 : 0);
  if (!gone && performance.now() < each.giveUpAt) return 'going on';
  orders.delete(each);
  if (gone) for (const treeId of each.treeIds === 'all' ? seen.known : each.treeIds) forgetTree(treeId);
  each.resolve(gone);
  return 'going on';
}

/**
 * A process without a mark is found through its parents and would be lost if they died while it forks. So if a tree has
 * one, all members are stopped until a scan finds nobody new, and only then killed.
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

/** A process that may belong to several trees is killed with the last of them. */
function pickMembers({ trees, unplaced }: SortedProcesses, treeIds: TreeIds): ScannedProcess[] {
  const orphans = unplaced.filter(
    (orphan) => treeIds === 'all' || orphan.treeIds.every((treeId) => treeIds.has(treeId)),
  );
  return [...pick(trees, treeIds).flat(), ...orphans.flatMap(({ members }) => members)];
}

/** For processes a scan could not see for lack of descriptors: killing groups frees some. */
function killGroups(treeIds: TreeIds): void {
  for (const { root, reapedAt } of pick(knownTrees(), treeIds)) {
    if (reapedAt === Number.POSITIVE_INFINITY) sendSignal(-root.pid, 'SIGKILL');
  }
}

/** By lookup, not by search: a thousand orders may be under way for a thousand trees. */
function pick<T>(byTree: ReadonlyMap<number, T>, treeIds: TreeIds): T[] {
  if (treeIds === 'all') return [...byTree.values()];
  return [...treeIds].flatMap((treeId) => {
    const found = byTree.get(treeId);
    return found === undefined ? [] : [found];
  });
}

/** Only if it is still the process we saw. */
function sendTo(member: ScannedProcess, signal: string): void {
  if (isSame(member)) sendSignal(member.pid, signal);
}

/** True if the process exists, even if we may not signal it. */
export function sendSignal(pid: number, signal: string | number): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
