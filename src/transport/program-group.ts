import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** A program that speaks the protocol on its standard streams. */
export type ProgramChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a program may take to exit by itself after its stdin is closed. */
const EOF_GRACE_MS = 1_000;
/** How long the group may take to exit after SIGTERM. */
const TERM_GRACE_MS = 2_000;
/** How long the streams of a killed group may stay open before they are cut: a process may have left the group. */
const KILL_GRACE_MS = 1_000;
/** How often to check for the group; there is no event for its end. */
const GROUP_POLL_MS = 10;

/**
 * Ends a program and its whole process group: end of input, then SIGTERM, then SIGKILL. Resolves when its streams are
 * closed or nothing more can be done; never waits forever.
 */
export async function endGroup(options: {
  child: ProgramChild;
  /** Settles when the child has exited and its streams are closed. */
  closed: Promise<void>;
  /** Skip straight to SIGKILL. */
  now: boolean;
}): Promise<void> {
  const { child, closed, now } = options;
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin.end();
  // Nothing reads any more, and a program blocked on a write would never see the end of its input.
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

/** False if the group could not be signalled: it is gone, or no longer ours to signal. */
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

/** Closed streams mean that nothing writes any more, but a silent member of the group may still be running. */
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
