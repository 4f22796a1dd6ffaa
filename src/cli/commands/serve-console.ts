import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecServer, ServerLog } from '../../server/index.js';
import type { WebSocketAuth } from '../../transport/index.js';
import { type ConsoleTokenFlags, DEFAULT_CONSOLE_URL } from '../options/console-options.js';
import type { TlsFlags } from '../options/tls-options.js';

export interface ServeConsoleFlags extends ConsoleTokenFlags, TlsFlags {
  /** True without an address. */
  readonly console?: string | true;
  readonly allowHost: readonly string[];
  readonly durable?: string;
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
  const open = (url: string) => openConsole({ url, machines, flags, log });
  if (flags.durable === undefined) return await open(url);
  // Pages that are open look for the next server where the last one was.
  const file = join(flags.durable, 'console-port');
  const last = sameAddress(url, file);
  const page = await (last === url ? open(url) : open(last).catch(() => open(url)));
  writeFileSync(file, new URL(page.url).port);
  return page;
}

/** Where the last server of this directory had its page, if any port will do. */
function sameAddress(url: string, file: string): string {
  const port = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return /^\d+$/.test(port) ? url.replace(/:0\/?$/, `:${port}`) : url;
}

function principalOfConsole(auth: WebSocketAuth | undefined): string {
  if (!auth) return 'anyone';
  // Signed tokens name many clients, and the console is not one of them.
  return auth.mode === 'capability-token'
    ? `token:${Buffer.from(auth.tokenSha256).toString('hex')}`
    : 'console';
}
