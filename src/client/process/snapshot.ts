import { type ExitFacts, exitFacts } from '../../contract/index.js';
import { decodeBase64, ExecError, type ExecResult } from '../../protocol/index.js';
import type { WireEvent } from '../connection/wire-event.js';

export type Snapshot = ExecResult<'process/read'>;

/** Numbers without an entry, `from` up to but not including `to`. */
interface Hole {
  readonly from: number;
  readonly to: number;
  /** How much was lost there, where the server says so. */
  readonly lostBytes: number | undefined;
}

/** What a reader knows besides the answer to its read. */
export interface Known {
  /** The number it needs next. */
  readonly nextSeq: number;
  /** True when the exit was seen, in order or not yet. */
  readonly exit: boolean;
  /** Numbers of events that wait for an earlier one. */
  readonly waiting: readonly number[];
}

/**
 * Turns the answer to `process/read` into the events it stands for. It lists output with numbers, but exit and close
 * only as facts: close is the highest number there is, exit the number nothing else explains. Other holes are
 * output the server has let go, oldest first.
 */
export function eventsOf(snapshot: Snapshot, known: Known): WireEvent[] {
  const events: WireEvent[] = snapshot.chunks.map(({ seq, stream, chunk }) => {
    return { type: 'output', seq, stream, bytes: decodeBase64(chunk, 'protocolViolation') };
  });
  const last = snapshot.nextSeq - 1;
  const filled = new Set([...events.map((event) => event.seq), ...known.waiting]);
  // An answer cut off by size ends with a chunk; its close comes with a later one.
  if (snapshot.closed && last >= known.nextSeq && !filled.has(last)) {
    events.push({ type: 'closed', seq: last });
    filled.add(last);
  }
  const holes = findHoles({ snapshot, filled, from: known.nextSeq });
  const exitHole = snapshot.exited && !known.exit ? holes[exitIndex(holes)] : undefined;
  for (const hole of holes) {
    const to = hole === exitHole ? hole.to - 1 : hole.to;
    const { from } = hole;
    // Without a count, one byte per missing entry is what was lost at least.
    if (to > from) {
      events.push({ type: 'gap', seq: from, beforeSeq: to, lostBytes: hole.lostBytes ?? to - from });
    }
    if (hole === exitHole) {
      events.push({ type: 'exited', seq: to, facts: factsOf(snapshot) });
    }
  }
  return events;
}

/** An exit without a code would have to be made up. */
function factsOf(snapshot: Snapshot): ExitFacts {
  const { exitCode } = snapshot;
  if (exitCode !== null) return exitFacts({ ...snapshot, exitCode });
  throw new ExecError('protocolViolation', 'The server tells of an exit without an exit code.');
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

/** Where the exit is: a single number without a reported loss if there is one, else the end of the last hole. */
function exitIndex(holes: readonly Hole[]): number {
  const single = holes.findLastIndex((hole) => hole.to - hole.from === 1 && hole.lostBytes === undefined);
  return single === -1 ? holes.length - 1 : single;
}
