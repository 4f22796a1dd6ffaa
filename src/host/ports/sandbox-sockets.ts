import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { listenersInTable, type ListeningSocket, SOCKET_TABLES } from '../kernel/index.js';
import type { Look } from './listeners.js';
import type { SandboxNetwork } from './sandbox-networks.js';
import { timeSpent } from './time-spent.js';

/**
 * A listener that replaces another between two scans leaves the count unchanged, so the table is reread this often in any
 * case.
 */
const REREAD_MS = 1_000;

/** Reading a table may take this share of a processor, whatever programs do inside. */
const MAX_SHARE = 1 / 8;

/** One of the two tables, as last read. */
interface TableState {
  count: string;
  sockets: readonly ListeningSocket[];
  readAtMs: number;
  spentMs: number;
}

/**
 * The listening sockets in the network of a sandbox, read from outside. Reading the table takes milliseconds, reading the
 * number of sockets microseconds, so the table is read only when that number changes.
 */
export class SandboxSockets {
  readonly #tables = new Map<string, TableState>();

  async read({ pid }: SandboxNetwork, { fresh = false }: Look = {}): Promise<ListeningSocket[]> {
    if (fresh) this.#tables.clear();
    const found = await Promise.all(SOCKET_TABLES.map((name) => this.#table(pid, name)));
    return found.flat();
  }

  async #table(pid: number, name: string): Promise<readonly ListeningSocket[]> {
    const count = countSockets(pid, name);
    const known = this.#tables.get(name);
    if (known && !isDue(known, count)) return known.sockets;
    const spent = timeSpent();
    const sockets = count === '0' ? [] : listenersInTable(await tableOf(pid, name));
    this.#tables.set(name, { count, sockets, readAtMs: performance.now(), spentMs: spent() });
    return sockets;
  }
}

function isDue({ count, readAtMs, spentMs }: TableState, countNow: string): boolean {
  const age = performance.now() - readAtMs;
  if (age * MAX_SHARE < spentMs) return false;
  return count !== countNow || (countNow !== '0' && age > REREAD_MS);
}

/** The number of connected and listening TCP sockets, as text. `0` if the network no longer exists. */
function countSockets(pid: number, table: string): string {
  const [file, label] = table === 'tcp6' ? ['sockstat6', 'TCP6'] : ['sockstat', 'TCP'];
  try {
    const text = readFileSync(`/proc/${pid}/net/${file}`, 'latin1');
    return new RegExp(`^${label}: inuse (\\d+)`, 'm').exec(text)?.[1] ?? '0';
  } catch {
    return '0';
  }
}

async function tableOf(pid: number, table: string): Promise<string> {
  return await readFile(`/proc/${pid}/net/${table}`, 'latin1').catch(() => '');
}
