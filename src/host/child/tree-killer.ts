import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Families, findFamilies, findForeignOrphans } from './family.js';
import { type Scan, type ScannedProcess, scanNow, scanSteps } from './process-scan.js';
import { nextExit } from './reaper.js';

/** A tree that SIGKILL does not end within this time hangs in the kernel or belongs to another user. */
const GIVE_UP_MS = 5000;
/** Between two looks: a killed process needs about a millisecond to be gone. */
const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 50;

interface KillOrder {
  readonly covers: (owner: number) => boolean;
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
  const wanted = new Set(owners);
  return order((owner) => wanted.has(owner));
}

/** SIGKILLs everything this server ever started that still runs. */
export function killAllTrees(): Promise<boolean> {
  return order(() => true);
}

/** Who of a tree runs at this moment. */
export function livingMembers(owner: number): readonly ScannedProcess[] {
  return findFamilies(scanNow().processes, roots).get(owner) ?? [];
}

function order(covers: (owner: number) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    orders.add({
      covers,
      resolve,
      giveUpAt: performance.now() + GIVE_UP_MS,
      emptyScans: 0,
      killed: new Set(),
    });
    // Frees what the groups hold at once. Without marks those who left the group are found through their parents,
    // which must live until they are seen.
    killGroups(covers, { marked: true });
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
    kill(findForeignOrphans(scan.processes));
    const families = findFamilies(scan.processes, roots);
    for (const each of batch) carryOut(each, { ...scan, families });
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
function carryOut(each: KillOrder, seen: Scan & { families: Families }): void {
  const members = [...seen.families].flatMap(([owner, family]) => (each.covers(owner) ? family : []));
  kill(members);
  for (const { pid } of members) each.killed.add(pid);
  killGroups(each.covers, { marked: false });
  const somebody = members.length > 0 || seen.processes.some(({ pid }) => each.killed.has(pid));
  each.emptyScans = somebody || seen.incomplete ? 0 : each.emptyScans + 1;
  const gone = each.emptyScans > (seen.unsettled ? 1 : 0);
  if (!gone && performance.now() < each.giveUpAt) return;
  orders.delete(each);
  each.resolve(gone);
}

function killGroups(covers: KillOrder['covers'], { marked }: Pick<TreeRoot, 'marked'>): void {
  for (const root of led.values())
    if (root.marked === marked && covers(root.owner)) sendSignal(-root.pid, 'SIGKILL');
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
