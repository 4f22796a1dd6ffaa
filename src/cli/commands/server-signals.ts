import { leaveHost } from '../../host/index.js';
import type { ServerLog, Serving } from '../../server/index.js';
import { onHangup } from './hangup.js';

interface ServerSignals {
  readonly log: ServerLog;
  readonly graceMs: number;
  /** What begins before programs are asked to end, and has to be finished before the server closes. */
  readonly retiring: readonly (() => Promise<void>)[];
  /** What else is to be left at the end. */
  readonly leaving: readonly (() => Promise<void>)[];
  /** Reads files again: credentials, and the audit file. May throw. */
  readonly reload: (serving: Serving) => void;
}

/**
 * SIGTERM and SIGINT end a server: programs are asked to end, and killed after a while; a second signal kills them at once, a
 * third one exits. SIGHUP reloads files. Returns a function that shuts down as SIGTERM does.
 */
export function handleSignals(
  starting: Promise<Serving>,
  { log, graceMs, retiring, leaving, reload }: ServerSignals,
): (why: string) => void {
  let signals = 0;
  const close = async (why: string, drainMs: number): Promise<void> => {
    log.info({ why }, 'shutting down');
    const serving = await starting;
    await serving.stopListening();
    const retired = Promise.all(retiring.map((retire) => retire()));
    if (drainMs > 0) await serving.server.drain({ graceMs: drainMs });
    await retired;
    await serving.close();
    await Promise.all(leaving.map((leave) => leave()));
    leaveHost();
    process.exit();
  };
  const end = (why: string): void => {
    signals += 1;
    if (signals === 1) void close(why, graceMs);
    else if (signals === 2) void starting.then((serving) => serving.server.drain({ graceMs: 0 }));
    // The watchdog cleans up.
    else process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal));
  onHangup({ log, reload: async () => reload(await starting), end: () => end('SIGHUP') });
  return (why) => {
    if (signals === 0) void close(why, 0);
    signals += 1;
  };
}
