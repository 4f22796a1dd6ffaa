import { pathToFileURL } from 'node:url';

const ENVIRONMENT = { PATH: '/usr/bin:/bin', TERM: 'xterm' };

let started = 0;

/** Parameters of `process/start` for a program under a fresh id. */
export function startParams(argv, options = {}) {
  started += 1;
  return {
    processId: `b${started}`,
    argv,
    cwd: pathToFileURL(process.cwd()).href,
    env: ENVIRONMENT,
    tty: false,
    ...options,
  };
}

/** Starts a program and waits until it has closed; resolves to its milliseconds. */
export async function runToClose(client, argv, options) {
  const params = startParams(argv, options);
  const begun = performance.now();
  const closing = client.closing(params.processId);
  await Promise.all([client.request('process/start', params), closing]);
  return performance.now() - begun;
}

/**
 * Runs a program that prints `byteCount` bytes until all have arrived and it has closed; resolves to seconds. `start`:
 * further parameters of the start.
 */
export async function runOutput(client, { argv, tty, byteCount, start = {} }) {
  const before = client.outputBytes;
  const begun = performance.now();
  // Codex may send the last output after `closed`, so both are awaited.
  await Promise.all([client.output(byteCount), runToClose(client, argv, { tty, ...start })]);
  const seconds = (performance.now() - begun) / 1000;
  requireAll(client.outputBytes - before, byteCount);
  return seconds;
}

/** A throughput of output that went missing, or came twice, is worth nothing. */
export function requireAll(arrived, expected) {
  if (arrived !== expected) throw new Error(`${arrived} bytes arrived instead of ${expected}`);
}
