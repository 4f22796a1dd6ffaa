/** How long starts may hold the event loop before requests of other connections are looked at. */
const SLICE_MS = 10;

let spentMs = 0;

/** Whether this turn of the event loop has time for another start. A client may send a thousand of them at once. */
export function hasTimeToStart(): boolean {
  return spentMs < SLICE_MS;
}

/** Runs a start and counts the time it takes. */
export function timeStart<Result>(start: () => Result): Result {
  const began = performance.now();
  try {
    return start();
  } finally {
    if (spentMs === 0)
      setImmediate(() => {
        spentMs = 0;
      });
    spentMs += performance.now() - began;
  }
}
