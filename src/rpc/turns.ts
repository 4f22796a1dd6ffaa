import { TurnQueue } from '../protocol/turn-queue.js';

const requests = new TurnQueue();

/**
 * Resolves in a turn of the event loop that no other caller gets. Work that may come a thousand times at once asks for a turn
 * first, so that requests of all connections are answered in between.
 */
export function ownTurn(): Promise<void> {
  return requests.next();
}
