import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds all threads of a process have used, in user and kernel mode, without its children. */
export function cpuSeconds(pid) {
  const { own } = cpuTimes(pid);
  return own.user + own.system;
}

/** The same apart, and what its children used: those that have ended and were waited for. */
export function cpuTimes(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program name in brackets and may hold anything; fields 14 to 17 are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map((t) => Number(t) / ticksPerSecond);
  return { own: { user, system }, children: { user: childUser, system: childSystem } };
}

/** The processes a process has started and not yet waited for. */
export function childrenOf(pid) {
  const lists = readdirSync(`/proc/${pid}/task`).map((thread) => childrenOfThread(pid, thread));
  return lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
}

function childrenOfThread(pid, thread) {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
  } catch {
    // The thread has ended meanwhile, or the kernel was built without these lists.
    return '';
  }
}

/** Milliseconds the main thread of a process ran, and those it was ready to run while every core was taken. */
export function mainThreadTimes(pid) {
  const [ran, queued] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, queuedMs: Number(queued) / 1e6 };
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}
