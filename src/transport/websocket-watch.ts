import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** How often silence is judged. A line that is dead is noticed within five of these, 10 s. */
export const LIVENESS_TICK_MS = 2_000;
/** Ticks without a single byte before the connection counts as lost. */
const MAX_SILENT_TICKS = 3;
/** How far the clock of the day may run ahead of the one that stands still in sleep, before this machine has slept. */
const SLEPT_MS = 5_000;

/**
 * Notices a server that is gone without a word. Ticks are counted rather than time: when this process was
 * busy, what arrived meanwhile is read between two ticks. Bytes are counted rather than messages: one
 * long message may take a while. A paused socket is never judged. After a sleep of this machine, during which ticks stand
 * still, the server has one tick to show itself.
 */
export function watchLiveness(options: {
  socket: WebSocket;
  connection: Socket;
  tickMs: number;
  /** Called when the other side counts as gone. */
  silent: () => void;
}): void {
  const { socket, connection, tickMs, silent } = options;
  let bytesSeen = connection.bytesRead;
  let silentTicks = 0;
  let sleepOffset = Date.now() - performance.now();
  const timer = setInterval(() => {
    const alive = socket.isPaused || connection.bytesRead !== bytesSeen;
    const offset = Date.now() - performance.now();
    const slept = offset - sleepOffset > SLEPT_MS;
    bytesSeen = connection.bytesRead;
    sleepOffset = offset;
    silentTicks = alive ? 0 : silentTicks + 1;
    if (slept && !socket.isPaused) silentTicks = MAX_SILENT_TICKS;
    if (silentTicks > MAX_SILENT_TICKS) silent();
    else if (silentTicks > 0) socket.ping();
  }, tickMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
