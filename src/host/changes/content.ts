import { closeSync, readlinkSync, readSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { isScarcity, openBeneath } from '../kernel/index.js';
import { openForReading, openHeldFile } from './accessible.js';
import { entryOf, nameOf, parentOf } from './byte-path.js';
import { isWhiteout, nodeAt } from './node.js';
import type { Layers } from './scan.js';

/** Part of a file. */
export interface ContentPart {
  readonly bytes: Buffer;
  readonly size: number;
  readonly eof: boolean;
}

/** Which of the two files at a path. */
export type Side = 'held' | 'base';

/** Reads part of a file in one layer, or what a link says. Null if there is no such file. */
export function readLayer(
  { upper, base }: Layers,
  { path, side, offset, maxBytes }: { path: string; side: Side; offset: number; maxBytes: number },
): ContentPart | null {
  let parent: number;
  try {
    parent = openBeneath(side === 'held' ? upper : base, Buffer.from(parentOf(path), 'latin1'));
  } catch (error) {
    if (isScarcity(error)) throw error;
    return null;
  }
  try {
    const entry = entryOf(parent, nameOf(path));
    const node = nodeAt(entry);
    if (node === undefined || isWhiteout(node)) return null;
    if (node.isSymbolicLink()) return partOf(readlinkSync(entry, 'buffer'), offset, maxBytes);
    if (!node.isFile()) throw new ExecError('invalidFile', 'Only files and links have content.');
    const fd = side === 'held' ? openHeldFile(entry, node) : openForReading(entry);
    try {
      const bytes = Buffer.alloc(Math.max(0, Math.min(maxBytes, Number(node.size) - offset)));
      const count = readSync(fd, bytes, 0, bytes.length, offset);
      return {
        bytes: bytes.subarray(0, count),
        size: Number(node.size),
        eof: offset + count >= Number(node.size),
      };
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(parent);
  }
}

function partOf(all: Buffer, offset: number, maxBytes: number): ContentPart {
  const bytes = all.subarray(offset, offset + maxBytes);
  return { bytes, size: all.length, eof: offset + bytes.length >= all.length };
}
