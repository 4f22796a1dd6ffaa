import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server gets this long to end in good order before it is killed. */
const GRACE_MS = 3000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
let ending = false;

/**
 * Starts a program that is ended, by its pid, no later than this run.
 * @param {readonly string[]} argv
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {import('node:child_process').ChildProcessWithoutNullStreams} With the pipes that `options` ask for.
 */
export function spawnTracked([program = '', ...args], options) {
  if (ending) throw new Error('the bench is ending');
  const child = spawn(program, args, options);
  running.add(child);
  // A program that cannot be started has no exit; whoever waits for it hears of the error there.
  child.once('error', () => running.delete(child));
  child.once('exit', () => running.delete(child));
  child.stdin?.on('error', () => undefined);
  return /** @type {never} */ (child);
}

/**
 * Ends a child: politely, by the end of its stdin or SIGTERM, and by force when that takes too long.
 * @param {import('node:child_process').ChildProcess} child
 */
export async function endChild(child, { graceMs = GRACE_MS } = {}) {
  if (!running.has(child)) return;
  const exit = once(child, 'exit');
  child.stdout?.resume();
  if (child.stdin) child.stdin.end();
  else child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exit;
  clearTimeout(force);
}

/** Ends what runs and lets nothing new begin. */
export async function endAllChildren() {
  ending = true;
  await Promise.allSettled([...running].map((child) => endChild(child)));
}

/** For the very end of the process, when nothing can be awaited any more. */
export function killAllChildren() {
  for (const child of running) child.kill('SIGKILL');
}
