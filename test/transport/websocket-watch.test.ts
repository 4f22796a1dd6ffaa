import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { LIVENESS_TICK_MS, watchLiveness } from '../../src/transport/websocket-watch.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class QuietSocket extends EventEmitter {
  isPaused = false;
  pings = 0;
  ping(): void {
    this.pings += 1;
  }
}

function watch(): { socket: QuietSocket; connection: { bytesRead: number }; silent: () => boolean } {
  const socket = new QuietSocket();
  const connection = { bytesRead: 0 };
  let silent = false;
  watchLiveness({
    socket: socket as unknown as WebSocket,
    connection: connection as unknown as Socket,
    tickMs: LIVENESS_TICK_MS,
    silent: () => {
      silent = true;
    },
  });
  return { socket, connection, silent: () => silent };
}

/** The clock of the day goes on in sleep; timers and the clock they go by do not. */
function sleep(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test('a dead line is noticed within ten seconds', () => {
  const { silent, connection } = watch();
  vi.advanceTimersByTime(LIVENESS_TICK_MS - 1);
  connection.bytesRead += 1;
  vi.advanceTimersByTime(10_000);
  expect(silent()).toBe(true);
});

test('one that answers is kept, and is not asked more often than every other time', () => {
  const { socket, connection, silent } = watch();
  socket.ping = () => {
    socket.pings += 1;
    connection.bytesRead += 2;
  };
  vi.advanceTimersByTime(60_000);
  expect(silent()).toBe(false);
  expect(socket.pings).toBe(60_000 / LIVENESS_TICK_MS / 2);
});

test('after a sleep the server is asked at once, and given up with the next tick', () => {
  const { socket, connection, silent } = watch();
  connection.bytesRead += 1;
  sleep(600_000);
  vi.advanceTimersByTime(LIVENESS_TICK_MS);
  expect([socket.pings, silent()]).toEqual([1, false]);
  vi.advanceTimersByTime(LIVENESS_TICK_MS);
  expect(silent()).toBe(true);
});

test('a server that answers after a sleep is kept', () => {
  const { socket, connection, silent } = watch();
  sleep(600_000);
  vi.advanceTimersByTime(LIVENESS_TICK_MS);
  expect(socket.pings).toBe(1);
  connection.bytesRead += 2;
  vi.advanceTimersByTime(2 * LIVENESS_TICK_MS);
  expect(silent()).toBe(false);
});

test('a clock that is set back or paused reading means nothing', () => {
  const { socket, silent } = watch();
  socket.isPaused = true;
  sleep(600_000);
  vi.advanceTimersByTime(60_000);
  sleep(-600_000);
  vi.advanceTimersByTime(60_000);
  expect([socket.pings, silent()]).toEqual([0, false]);
});
