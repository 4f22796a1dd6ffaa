import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** How often to check for silence. A dead line is detected within five ticks, 10 s. */
export const LIVENESS_TICK_MS = 2_000;
/** Ticks without a single byte before the connection counts as lost. */
const MAX_SILENT_TICKS = 3;
/** This machine slept if the wall clock gains this much on the monotonic clock, which stops during sleep. */
const SLEPT_MS = 5_000;

/**
 * Detects a server that has vanished without closing. Ticks are counted rather than time: if this process was busy,
 * what arrived meanwhile is read between two ticks. Bytes are counted rather than messages, because one long message
 * may take a while. A paused socket is never judged. After this machine slept, during which no ticks happen, the server
 * has one tick to respond.
 */
export function watchLiveness(options: {
  socket: WebSocket;
  connection: Socket;
  tickMs: number;
  /** Called when the server counts as gone. */
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
