import { once } from 'node:events';
import type { ProgramChild } from './program.js';

/** How long a program may take to end by itself once its stdin is closed. */
const EOF_GRACE_MS = 1_000;
/** How long the group may take to obey SIGTERM. */
const TERM_GRACE_MS = 2_000;
/** How long the streams of a killed group may stay open before they are cut: something may have left the group. */
const KILL_GRACE_MS = 1_000;
/** How often a group is looked for; there is no event for the end of one. */
const GROUP_POLL_MS = 10;

/**
 * Ends a program and its whole process group: end of input, then SIGTERM, then SIGKILL. Resolves when its streams
 * are closed, or when nothing more can be done; it never waits for ever.
 */
export async function endGroup(options: {
  child: ProgramChild;
  /** Settles when the child has ended and its streams are closed. */
  closed: Promise<void>;
  /** Skips the polite steps. */
  now: boolean;
}): Promise<void> {
  const { child, closed, now } = options;
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin.end();
  // Nobody reads any more, and a program blocked in a write would never see the end of its input.
  child.stdout.resume();
  if (!now) {
    const ended = await within(exited(child), EOF_GRACE_MS);
    const signalled = signalGroup(pid, 'SIGTERM');
    if ((ended || signalled) && (await within(groupGone(pid, closed), TERM_GRACE_MS))) return;
  }
  if (!signalGroup(pid, 'SIGKILL')) child.kill('SIGKILL');
  if (await within(groupGone(pid, closed), KILL_GRACE_MS)) return;
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

/** False when the group could not be signalled: it is gone, or is not ours to signal any more. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function exited(child: ProgramChild): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Closed streams say that nobody writes any more; a silent member of the group may still be there. */
async function groupGone(pid: number, closed: Promise<void>): Promise<void> {
  await closed;
  const deadline = performance.now() + TERM_GRACE_MS;
  while (signalGroup(pid, 0) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS));
}

async function within(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
