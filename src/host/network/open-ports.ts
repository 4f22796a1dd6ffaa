import type { ChildProcess } from 'node:child_process';
import type { Server, Socket } from 'node:net';
import { ExecError } from '../../protocol/errors.js';

/** Ports opened at a time: each program under rules of its own takes one while it runs. */
export const BATCH = 16;

/** Node starts in a tenth of a second. On a machine without room for its threads it may hang for ever. */
const OPEN_LIMIT_MS = 15_000;

const EXIT_LIMIT_MS = 2_000;

/** A listening socket inside. */
export interface OpenPort {
  readonly port: number;
  readonly server: Server;
}

/** Until it is gone it may still accept connections on the ports it made, and leave them without an answer. */
export async function dismissed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => void child.once('exit', resolve));
  // It exits then, and bubblewrap after it.
  if (child.connected) child.disconnect();
  const limit = setTimeout(() => child.kill('SIGKILL'), EXIT_LIMIT_MS);
  await gone;
  clearTimeout(limit);
}

/** The helper waits inside until it is dismissed. bubblewrap, our child, stays outside. */
export function portsFrom(child: ChildProcess): Promise<{ pid: number; ports: OpenPort[] }> {
  const ports: OpenPort[] = [];
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-1_000)));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(limit);
      for (const { server } of ports) server.close();
      child.kill('SIGKILL');
      reject(unavailable(said.trim() || why));
    };
    const limit = setTimeout(() => fail('it took too long'), OPEN_LIMIT_MS);
    child.on('error', (error) => fail(error.message));
    child.on('exit', () => fail('its helper ended'));
    child.on('message', ({ pid, port }: { pid: number; port: number }, server: unknown) => {
      ports.push({ port, server: prepared(server as Server) });
      if (ports.length < BATCH) return;
      clearTimeout(limit);
      child.removeAllListeners();
      resolve({ pid, ports });
    });
  });
}

/** Until somebody takes its port, nobody inside is answered. */
export function prepared(server: Server): Server {
  // Not in its type, yet read for each connection: an end of one direction must not end the other.
  (server as Server & { allowHalfOpen: boolean }).allowHalfOpen = true;
  return server
    .on('connection', turnAway)
    .on('error', () => undefined)
    .unref();
}

export function turnAway(socket: Socket): void {
  socket.destroy();
}

export function unavailable(why: string): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'No network could be set up for a sandbox, so nothing was run.',
    {
      data: {
        reason: 'managedNetwork',
        hint: 'Run `execwire doctor` to check the sandbox.',
        why,
      },
    },
  );
}
