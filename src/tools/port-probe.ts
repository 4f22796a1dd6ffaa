import type { Environment } from '../contract/index.js';

/**
 * Exits once something listens on the port. Runs on the environment's machine. The pattern matches a listening socket
 * in the kernel's tables: local address, no remote port, state 0A.
 */
const PROBE = `
listening() {
  if [ -r /proc/net/tcp ]; then grep -qs ": [0-9A-F]*:$2 [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6
  else lsof -nP -iTCP:"$1" -sTCP:LISTEN >/dev/null 2>&1
  fi
}
until listening "$1" "$2"; do sleep 0.1; done
`;

/** Resolves when something listens on a TCP port of the environment's machine. Never resolves after an abort. */
export async function waitForPort(
  environment: Environment,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  await using probe = await environment.start({ argv: ['/bin/sh', '-c', PROBE, 'sh', String(port), hex] });
  const stop = (): void => void probe.terminate();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const end = await probe.wait();
  signal.removeEventListener('abort', stop);
  if (end.kind === 'exited' && end.exitCode === 0) return;
  await new Promise<never>(() => undefined);
}
