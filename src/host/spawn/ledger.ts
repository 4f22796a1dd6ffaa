import { ftruncateSync, writeSync } from 'node:fs';
import { libc, linux } from '../kernel/index.js';
import type { TreeRoot } from './known-trees.js';
import { slackOf } from './timer-slack.js';

/**
 * What the watchdog needs to know about our trees once we are gone, in memory it shares with us. It reads the ledger
 * only then, so an entry costs one short write and wakes nobody. A line is `pid number start`, or blank: a child that
 * is not reaped yet (start is 0), a tree whose child is (pid is 0), or an orphan that belongs to one of them.
 */

const LINE_BYTES = 32;
const BLANK = 0x20;
const LINE_END = 0x0a;

const buffer = Buffer.alloc(LINE_BYTES, LINE_END);
const lines = new Map<string, number>();
const free: number[] = [];
let file: number | null = null;

/** The shared memory; null if it could not be created. */
export function ledgerFile(): number | null {
  if (file !== null) return file;
  const made = libc().memfdCreate('execwire-ledger', linux.MFD_CLOEXEC);
  if (made >= 0) file = made;
  return file;
}

/** Continues with the ledger of an earlier server, whose entries are made again. */
export function inheritLedger(fd: number): void {
  file = fd;
  ftruncateSync(fd, 0);
}

/** Enters a tree, or updates its entry. */
export function enterTree({ treeId, pid }: TreeRoot): void {
  write(`tree ${treeId}`, `${pid} ${slackOf(treeId)} 0`);
}

/**
 * Once its child is reaped, a stale line describes only an empty tree, so it need not be blanked; it is overwritten
 * eventually.
 */
export function strikeTree({ treeId, pid }: TreeRoot): void {
  release(`tree ${treeId}`, { blank: pid !== 0 });
}

/** Replaces the orphans entered before. */
export function enterOrphans(orphans: readonly { readonly pid: number; readonly startTick: number }[]): void {
  const entries = new Map(
    orphans.map(({ pid, startTick }) => [`orphan ${pid} ${startTick}`, { pid, startTick }]),
  );
  for (const key of lines.keys())
    if (key.startsWith('orphan') && !entries.has(key)) release(key, { blank: true });
  for (const [key, { pid, startTick }] of entries) if (!lines.has(key)) write(key, `${pid} 0 ${startTick}`);
}

function write(key: string, text: string): void {
  if (ledgerFile() === null) return;
  const line = lines.get(key) ?? free.pop() ?? lines.size;
  lines.set(key, line);
  put(line, text);
}

function release(key: string, { blank }: { blank: boolean }): void {
  const line = lines.get(key);
  if (line === undefined) return;
  lines.delete(key);
  free.push(line);
  if (blank) put(line, '');
}

function put(line: number, text: string): void {
  if (file === null) return;
  try {
    buffer.fill(BLANK, buffer.write(text, 'latin1'), LINE_BYTES - 1);
    writeSync(file, buffer, 0, LINE_BYTES, line * LINE_BYTES);
  } catch {
    // Out of memory. Most processes are found by their mark anyway.
  }
}
