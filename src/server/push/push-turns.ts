/** How long one connection may push before the others: messages may be compressed, and requests wait meanwhile. */
const TURN_MS = 5;
/** How long all connections together may push before requests are looked at again. */
const ALL_TURNS_MS = 10;

/** Connections with more to push, in the order they will continue. */
const waiting = new Set<() => void>();
let isScheduled = false;
let begunAt = 0;
let spentMs = 0;

/** Until when a connection may push now. */
export function turnEnd(now: number): number {
  // Time spent long ago no longer delays anything.
  if (now - begunAt > 2 * ALL_TURNS_MS) begin(now);
  return now + Math.min(TURN_MS, ALL_TURNS_MS - spentMs);
}

/** Call when a connection has pushed for this long. */
export function turnTaken(ms: number): void {
  spentMs += ms;
}

/** Continues after requests have had their turn, and after connections that have waited longer. */
export function pushLater(run: () => void): void {
  waiting.add(run);
  schedule();
}

function schedule(): void {
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  setImmediate(goOn);
}

function goOn(): void {
  isScheduled = false;
  begin(performance.now());
  for (const run of [...waiting]) {
    if (spentMs >= ALL_TURNS_MS) break;
    waiting.delete(run);
    run();
  }
  schedule();
}

function begin(now: number): void {
  begunAt = now;
  spentMs = 0;
}
