import type { ServerEvent, ServerLog, ServerObserver } from '../server/index.js';

/** Sessions are logged by the server itself. */
const MESSAGES: Readonly<Partial<Record<ServerEvent['event'], string>>> = {
  loginRefused: 'refused a client',
  sessionEnded: 'session ended',
  processStarted: 'process started',
  startRefused: 'refused to start a process',
  processEnded: 'process ended',
};

/** Writes events to a log, without programs, arguments and directories. */
export function logEvents(log: ServerLog): ServerObserver {
  return (event) => {
    const message = MESSAGES[event.event];
    if (message === undefined) return;
    if (event.event === 'loginRefused') log.warn(shown(event), message);
    else log.info(shown(event), message);
  };
}

/** Names of fields that may reveal what a user does. */
const PRIVATE = new Set(['event', 'program', 'argv', 'cwd', 'usage']);

function shown(event: ServerEvent): Record<string, unknown> {
  const fields = Object.entries(event).filter(([name, value]) => !PRIVATE.has(name) && value !== null);
  const usage = event.event === 'processEnded' ? event.usage : undefined;
  return {
    ...Object.fromEntries(fields),
    ...(usage
      ? {
          userMs: Math.round(usage.userMs),
          systemMs: Math.round(usage.systemMs),
          peakMemoryBytes: usage.peakMemoryBytes,
        }
      : {}),
  };
}
