const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that nobody else gets. Work that may come a thousand times at once asks for a
 * turn first, so that requests of all connections are answered in between.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
