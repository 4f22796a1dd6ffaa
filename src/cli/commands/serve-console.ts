import type { ExecServer, ServerLog } from '../../server/index.js';
import type { WebSocketAuth } from '../../transport/index.js';
import { type ConsoleTokenFlags, DEFAULT_CONSOLE_URL } from '../options/console-options.js';
import type { TlsFlags } from '../options/tls-options.js';

export interface ServeConsoleFlags extends ConsoleTokenFlags, TlsFlags {
  /** True without an address. */
  readonly console?: string | true;
  readonly allowHost: readonly string[];
}

/** The page beside the listeners, for the same client that a token, or no token, stands for. */
export async function consoleOf(
  server: ExecServer,
  flags: ServeConsoleFlags,
  { auth, log }: { auth: WebSocketAuth | undefined; log: ServerLog },
): Promise<{ close: () => Promise<void> } | null> {
  if (flags.console === undefined) return null;
  const [{ openConsole }, { servedMachine }] = await Promise.all([
    import('./console.js'),
    import('./console-machines.js'),
  ]);
  const url = flags.console === true ? DEFAULT_CONSOLE_URL : flags.console;
  const machines = [servedMachine(server, { principal: principalOfConsole(auth) })];
  return await openConsole({ url, machines, flags, log });
}

function principalOfConsole(auth: WebSocketAuth | undefined): string {
  if (!auth) return 'anyone';
  // Signed tokens name many clients, and the console is none of them.
  return auth.mode === 'capability-token'
    ? `token:${Buffer.from(auth.tokenSha256).toString('hex')}`
    : 'console';
}
