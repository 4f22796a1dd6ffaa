import { type BigIntStats, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { TimeSlice } from '../../kernel/index.js';
import { dataFrom, holeFrom, isSparse } from '../holes.js';

const BLOCK_BYTES = 256 * 1024;

/** Copies the content of an open file. Holes stay holes. */
export async function copyContent(
  from: { readonly fd: number; readonly node: BigIntStats },
  to: number,
  slice: TimeSlice,
): Promise<void> {
  const size = Number(from.node.size);
  const hasHoles = isSparse(from.node);
  let offset = 0;
  while (offset < size) {
    const part = hasHoles ? nextData(from.fd, offset, size) : { start: offset, end: size };
    await copyPart(from.fd, to, { ...part, slice });
    offset = part.end;
  }
  if (hasHoles) ftruncateSync(to, size);
}

/** The next bytes that are not a hole; nothing at the end if only a hole is left. */
function nextData(fd: number, offset: number, size: number): { start: number; end: number } {
  const start = dataFrom(fd, { offset, size });
  return { start, end: holeFrom(fd, { offset: start, size }) };
}

async function copyPart(
  from: number,
  to: number,
  { start, end, slice }: { start: number; end: number; slice: TimeSlice },
): Promise<void> {
  // Our own: others may copy while we wait.
  const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end - start));
  for (let offset = start; offset < end; ) {
    const count = readSync(from, buffer, 0, Math.min(buffer.length, end - offset), offset);
    // A program made it shorter meanwhile.
    if (count === 0) return;
    for (let written = 0; written < count; )
      written += writeSync(to, buffer, written, count - written, offset + written);
    offset += count;
    await slice.yieldIfOver();
  }
}
