import type { ServerLog } from '../../server/index.js';

interface HangupOptions {
  readonly log: ServerLog;
  /** Reads files again: credentials, for instance. May throw. */
  readonly reload: () => void | Promise<void>;
  readonly end: () => void;
}

/** SIGHUP reloads files, unless it means that our own terminal is gone. */
export function onHangup({ log, reload, end }: HangupOptions): void {
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on('SIGHUP', () => {
    if (hasTerminal) end();
    else void reloadSafely(reload, log);
  });
}

/** A mistake in a file is no reason to stop serving with its previous content. */
async function reloadSafely(reload: HangupOptions['reload'], log: ServerLog): Promise<void> {
  try {
    await reload();
    log.info({}, 'reloaded tokens and certificates');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, 'nothing was reloaded; the server continues as before');
  }
}
