import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProcessTrees, findProcessTrees } from './process-trees.js';
import { type Scan, type ScannedProcess, scanNow, scanSteps } from './process-scan.js';
import { nextExit } from './reaper.js';

/** A tree that SIGKILL does not end within this time hangs in the kernel or belongs to another user. */
const GIVE_UP_MS = 5000;
/** Between two looks: a killed process needs about a millisecond to be gone. */
const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 50;

/** Whose trees are meant. */
type Owners = ReadonlySet<number> | 'all';

interface KillOrder {
  readonly owners: Owners;
  readonly giveUpAt: number;
  readonly resolve: (gone: boolean) => void;
  /** Who got the signal but may need a moment; without marks they cannot be told once their parent is gone. */
  readonly killed: Set<number>;
  /** Scans in a row that found nobody. */
  emptyScans: number;
}

/** Where a tree begins. */
export interface TreeRoot {
  readonly pid: number;
  readonly owner: number;
  /** Whether all of it carries the owner's number. */
  readonly marked: boolean;
}

const orders = new Set<KillOrder>();
/** Trees that carry no mark: the owner by the pid of the child, until it is closed. */
const roots = new Map<number, number>();
/** Trees whose child is not reaped yet, so that the number of its group cannot be anybody else's. */
const led = new Map<number, TreeRoot>();
let sweeping = false;

/** To be called for every child that is started. */
export function rememberTree(root: TreeRoot): void {
  led.set(root.owner, root);
  if (!root.marked) roots.set(root.pid, root.owner);
}

/** The child is reaped. */
export function leaderGone({ owner }: TreeRoot): void {
  led.delete(owner);
}

/** Its output is closed. Marked processes are found none the less. */
export function forgetTree({ pid }: TreeRoot): void {
  roots.delete(pid);
}

/** SIGKILLs the trees of these owners. True once none of their processes is left, false after 5 s. */
export function killTrees(owners: Iterable<number>): Promise<boolean> {
  return order(new Set(owners));
}

/** SIGKILLs everything this server ever started that still runs. */
export function killAllTrees(): Promise<boolean> {
  return order('all');
}

/** Who of a tree runs at this moment. */
export function livingMembers(owner: number): readonly ScannedProcess[] {
  return findProcessTrees(scanNow().processes, roots).get(owner) ?? [];
}

function order(owners: Owners): Promise<boolean> {
  return new Promise((resolve) => {
    orders.add({
      owners,
      resolve,
      giveUpAt: performance.now() + GIVE_UP_MS,
      emptyScans: 0,
      killed: new Set(),
    });
    // Frees what the groups hold at once. Without marks those who left the group are found through their parents,
    // which must live until they are seen.
    killGroups(owners, { marked: true });
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
    const scan = await scanWithBreaks();
    const families = findProcessTrees(scan.processes, roots);
    const pids = new Set(scan.processes.map(({ pid }) => pid));
    for (const each of batch) carryOut(each, { ...scan, families, pids });
    if (orders.size === 0) break;
    await nextExit(pauseMs);
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
  }
  sweeping = false;
}

async function scanWithBreaks(): Promise<Scan> {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await nextTurn();
  }
}

/** An empty scan proves that nobody is left, unless a process ended meanwhile that may have forked: then look twice. */
function carryOut(each: KillOrder, seen: Scan & { families: ProcessTrees; pids: ReadonlySet<number> }): void {
  const members = pick(seen.families, each.owners).flat();
  kill(members);
  for (const { pid } of members) each.killed.add(pid);
  killGroups(each.owners, { marked: false });
  const somebody = members.length > 0 || [...each.killed].some((pid) => seen.pids.has(pid));
  each.emptyScans = somebody || seen.incomplete ? 0 : each.emptyScans + 1;
  const gone = each.emptyScans > (seen.unsettled ? 1 : 0);
  if (!gone && performance.now() < each.giveUpAt) return;
  orders.delete(each);
  each.resolve(gone);
}

function killGroups(owners: Owners, { marked }: Pick<TreeRoot, 'marked'>): void {
  for (const root of pick(led, owners)) if (root.marked === marked) sendSignal(-root.pid, 'SIGKILL');
}

/** By look-up, not by search: a thousand orders may be under way for a thousand trees. */
function pick<T>(byOwner: ReadonlyMap<number, T>, owners: Owners): T[] {
  if (owners === 'all') return [...byOwner.values()];
  return [...owners].flatMap((owner) => {
    const found = byOwner.get(owner);
    return found === undefined ? [] : [found];
  });
}

function kill(members: readonly ScannedProcess[]): void {
  for (const { pid } of members) sendSignal(pid, 'SIGKILL');
}

/** True if somebody was there to get it, though perhaps out of our power. */
export function sendSignal(pid: number, signal: string | number): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
