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
  /** Events waiting for an earlier one, and how much output each of them is. */
  readonly waiting: ReadonlyMap<number, number>;
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
  const filled = new Set([...events.map((event) => event.seq), ...known.waiting.keys()]);
  // An answer truncated by size ends with a chunk; the close follows in a later one.
  if (snapshot.closed && last >= known.nextSeq && !filled.has(last)) {
    events.push({ type: 'closed', seq: last });
    filled.add(last);
  }
  const holes = findHoles(snapshot, { filled, known });
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

function findHoles(
  snapshot: Snapshot,
  { filled, known }: { filled: ReadonlySet<number>; known: Known },
): Hole[] {
  const lostBefore = new Map(snapshot.chunks.map((chunk) => [chunk.seq, chunk.lostBytes ?? 0]));
  const holes: Hole[] = [];
  let from = known.nextSeq;
  /** Since the last chunk of the answer: the holes, and output that only we still have. */
  let recent: Hole[] = [];
  let ours = 0;
  for (const to of [...filled, snapshot.nextSeq].sort((left, right) => left - right)) {
    if (to > from && to <= snapshot.nextSeq) recent.push({ from, to, lostBytes: undefined });
    from = Math.max(from, to + 1);
    const lost = lostBefore.get(to);
    if (lost === undefined) {
      ours += known.waiting.get(to) ?? 0;
      continue;
    }
    holes.push(...shareLoss(recent, lost - ours));
    recent = [];
    ours = 0;
  }
  return [...holes, ...recent];
}

/** A server counts what it has lost before a chunk as one number: the largest hole gets all of it. */
function shareLoss(holes: readonly Hole[], lostBytes: number): readonly Hole[] {
  const size = (hole: Hole): number => hole.to - hole.from;
  const largest = holes.reduce<Hole | undefined>(
    (most, hole) => (most && size(most) >= size(hole) ? most : hole),
    undefined,
  );
  if (!largest || lostBytes <= 0) return holes;
  // A single number may be the exit, of which nothing is lost.
  const rest = (hole: Hole): Hole => (size(hole) === 1 ? hole : { ...hole, lostBytes: 0 });
  return holes.map((hole) => (hole === largest ? { ...hole, lostBytes } : rest(hole)));
}

/**
 * The hole that is the exit: a single number without a reported loss if there is one, else the end of the last hole.
 */
function exitIndex(holes: readonly Hole[]): number {
  const single = holes.findLastIndex((hole) => hole.to - hole.from === 1 && hole.lostBytes === undefined);
  return single === -1 ? holes.length - 1 : single;
}
