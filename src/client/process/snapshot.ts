import { type ExitFacts, exitFacts } from '../../contract/index.js';
import { decodeBase64, ExecError, type ExecResult } from '../../protocol/index.js';
import type { WireEvent } from '../connection/wire-event.js';

export type Snapshot = ExecResult<'process/read'>;

/** Missing numbers, from `from` up to but excluding `to`. */
interface Hole {
  readonly from: number;
  readonly to: number;
  /** How many bytes were lost there, if the server reports it. */
  readonly lostBytes: number | undefined;
}

/** What the reader already knows. */
export interface Known {
  /** The next number it needs. */
  readonly nextSeq: number;
  /** True if the exit was seen, even if it is not next in order. */
  readonly exit: boolean;
  /** Numbers of events waiting for an earlier one. */
  readonly waiting: readonly number[];
}

/**
 * Turns the answer to `process/read` into events. It numbers output, but reports exit and close only as facts: close
 * has the highest number, and exit the number that nothing else explains. Other holes are output the server has
 * discarded, oldest first.
 */
export function eventsOf(snapshot: Snapshot, known: Known): WireEvent[] {
  const events: WireEvent[] = snapshot.chunks.map(({ seq, stream, chunk }) => {
    return { type: 'output', seq, stream, bytes: decodeBase64(chunk, 'protocolViolation') };
  });
  const last = snapshot.nextSeq - 1;
  const filled = new Set([...events.map((event) => event.seq), ...known.waiting]);
  // An answer truncated by size ends with a chunk; the close follows in a later one.
  if (snapshot.closed && last >= known.nextSeq && !filled.has(last)) {
    events.push({ type: 'closed', seq: last });
    filled.add(last);
  }
  const holes = findHoles({ snapshot, filled, from: known.nextSeq });
  const exitHole = snapshot.exited && !known.exit ? holes[exitIndex(holes)] : undefined;
  for (const hole of holes) {
    const to = hole === exitHole ? hole.to - 1 : hole.to;
    const { from } = hole;
    // Without a count, at least one byte was lost per missing entry.
    if (to > from) {
      events.push({ type: 'gap', seq: from, beforeSeq: to, lostBytes: hole.lostBytes ?? to - from });
    }
    if (hole === exitHole) {
      events.push({ type: 'exited', seq: to, facts: factsOf(snapshot) });
    }
  }
  return events;
}

/** Throws if the server reports an exit without a code: making one up would be wrong. */
function factsOf(snapshot: Snapshot): ExitFacts {
  const { exitCode } = snapshot;
  if (exitCode !== null) return exitFacts({ ...snapshot, exitCode });
  throw new ExecError('protocolViolation', 'The server reports an exit without an exit code.');
}

function findHoles(options: { snapshot: Snapshot; filled: ReadonlySet<number>; from: number }): Hole[] {
  const { snapshot, filled } = options;
  const lostBefore = new Map(snapshot.chunks.map((chunk) => [chunk.seq, chunk.lostBytes]));
  const holes: Hole[] = [];
  let { from } = options;
  for (const to of [...filled, snapshot.nextSeq].sort((left, right) => left - right)) {
    if (to > from && to <= snapshot.nextSeq) {
      holes.push({ from, to, lostBytes: lostBefore.get(to) || undefined });
    }
    from = Math.max(from, to + 1);
  }
  return holes;
}

/**
 * The hole that is the exit: a single number without a reported loss if there is one, else the end of the last hole.
 */
function exitIndex(holes: readonly Hole[]): number {
  const single = holes.findLastIndex((hole) => hole.to - hole.from === 1 && hole.lostBytes === undefined);
  return single === -1 ? holes.length - 1 : single;
}
