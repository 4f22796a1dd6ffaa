import { type BigIntStats, closeSync, readSync } from 'node:fs';
import type { TimeSlice } from '../kernel/index.js';
import { openForReading, openHeldFile } from './accessible.js';
import { dataFrom, isSparse } from './holes.js';

const BLOCK_BYTES = 128 * 1024;
const [ours, theirs] = [Buffer.alloc(BLOCK_BYTES), Buffer.alloc(BLOCK_BYTES)];

/** Results of comparisons, which are repeated with every list. Least recently used first. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 10_000;

const NS_PER_MS = 1_000_000n;
/** Longer than a tick on any machine. */
const TICK_NS = 50n * NS_PER_MS;

/** A file and what is known of it. */
export interface KnownFile {
  readonly path: Buffer;
  readonly node: BigIntStats;
}

/**
 * Whether a held file and the one below have the same bytes. Reads them only if sizes leave it open. What was found while a
 * program may have the file mapped is not remembered: such a program writes without a sign of it in the times of the file.
 */
export async function sameContent(
  { held, base }: { readonly held: KnownFile; readonly base: KnownFile },
  { slice, isQuiet }: { readonly slice: TimeSlice; readonly isQuiet: () => boolean },
): Promise<boolean> {
  if (held.node.size !== base.node.size) return false;
  if (held.node.size === 0n) return true;
  const key = `${version(held.node)} ${version(base.node)}`;
  const wasQuiet = isQuiet() && isSettled(held.node) && isSettled(base.node);
  const result = (wasQuiet ? known.get(key) : undefined) ?? (await compare(held, base, slice));
  known.delete(key);
  if (wasQuiet && isQuiet()) known.set(key, result);
  if (known.size > MAX_KNOWN) known.delete(known.keys().next().value ?? '');
  return result;
}

/** Of two writes within one tick of the clock that file times are taken from, the second leaves no trace in them. */
function isSettled({ ctimeNs }: BigIntStats): boolean {
  return BigInt(Date.now()) * NS_PER_MS - ctimeNs > TICK_NS;
}

function version({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

async function compare(held: KnownFile, base: KnownFile, slice: TimeSlice): Promise<boolean> {
  const a = openHeldFile(held.path, held.node);
  try {
    const b = openForReading(base.path);
    try {
      const size = Number(held.node.size);
      return await sameBytes([a, b], { size, areSparse: isSparse(held.node) && isSparse(base.node), slice });
    } finally {
      closeSync(b);
    }
  } catch (error) {
    // Neither could the program read it; what it replaced has another time.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return held.node.mtimeNs === base.node.mtimeNs;
    throw error;
  } finally {
    closeSync(a);
  }
}

async function sameBytes(
  [a, b]: readonly [number, number],
  { size, areSparse, slice }: { size: number; areSparse: boolean; slice: TimeSlice },
): Promise<boolean> {
  for (let offset = 0; ; offset += BLOCK_BYTES) {
    // Holes of both are the same, and there may be terabytes of them.
    if (areSparse) offset = Math.min(dataFrom(a, { offset, size }), dataFrom(b, { offset, size }));
    // Others may use the buffers once we wait.
    const count = readSync(a, ours, 0, BLOCK_BYTES, offset);
    const other = readSync(b, theirs, 0, BLOCK_BYTES, offset);
    if (count !== other || !ours.subarray(0, count).equals(theirs.subarray(0, count))) return false;
    if (count < BLOCK_BYTES) return true;
    await slice.yieldIfOver();
  }
}
