import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** How often silence is judged. Well below the lease of a session, so that a dead path is noticed in time. */
export const LIVENESS_TICK_MS = 5_000;
/** Ticks without a single byte before the connection counts as lost. */
const MAX_SILENT_TICKS = 3;

/**
 * Notices a server that is gone without a word. Ticks are counted rather than time: when this process was
 * busy or asleep, what arrived meanwhile is read between two ticks. Bytes are counted rather than messages: one
 * long message may take a while. A paused socket is never judged.
 */
export function watchLiveness(options: { socket: WebSocket; connection: Socket; tickMs: number }): void {
  const { socket, connection, tickMs } = options;
  let bytesSeen = connection.bytesRead;
  let silentTicks = 0;
  const timer = setInterval(() => {
    const alive = socket.isPaused || connection.bytesRead !== bytesSeen;
    bytesSeen = connection.bytesRead;
    silentTicks = alive ? 0 : silentTicks + 1;
    if (silentTicks > MAX_SILENT_TICKS) socket.terminate();
    else if (silentTicks > 0) socket.ping();
  }, tickMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
