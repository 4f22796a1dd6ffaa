import { statOf } from '../kernel/index.js';
import { inheritLedger } from './ledger.js';
import { inheritOrphans } from './orphan-tree.js';
import { inheritTrees, scanNow } from './process-scan.js';
import { createSlack, inheritSlack } from './timer-slack.js';
import { createNonce, inheritMarks } from './tree-mark.js';
import { guardedElsewhere } from './watchdog.js';

/** Not used by the next server: a process may hide from a scan by forking at the right moment. */
const SPARE_IDS = 1000;

/** What servers that follow each other have in common, so that each knows the trees of all before it. */
export interface Lineage {
  readonly nonce: string;
  readonly slack: number;
}

export function createLineage(): Lineage {
  return { nonce: createNonce(), slack: createSlack() };
}

/** Becomes a server of a line whose keeper is our parent. Call before anything is started. */
export function inheritLineage({ nonce, slack }: Lineage, options: { readonly ledger: number }): void {
  inheritMarks({ nonce, lastTreeId: 0 });
  inheritSlack(slack);
  inheritLedger(options.ledger);
  inheritTrees(statOf(process.ppid)?.startTick ?? 0);
  inheritOrphans(process.ppid);
  guardedElsewhere();
}

/** Continues behind the trees of the server before, which is gone. Call before anything is started. */
export function continueTrees({ nonce }: Lineage): void {
  inheritMarks({ nonce, lastTreeId: newestTree() + SPARE_IDS });
}

/** The ids of running trees. Those of others are looked up when needed; see `rememberTree`. */
function newestTree(): number {
  return scanNow().processes.reduce((newest, { treeId }) => Math.max(newest, treeId ?? 0), 0);
}
