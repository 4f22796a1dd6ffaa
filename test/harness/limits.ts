import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Sets a soft limit of a running process; the hard one stays, so that it can be lifted again. */
export function setLimit(pid: number, name: 'nofile' | 'fsize', limit: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--${name}=${limit}:`]);
}

/** The soft limit on open files of a process. */
export function openFilesLimit(pid: number): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
  return Number(soft);
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The number the next descriptor gets. The limit is on numbers: at this one, nothing more can be opened. */
export function nextDescriptor(pid: number): number {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let next = 0;
  while (used.has(next)) next += 1;
  return next;
}

/** Threads of all processes of a user: what the limit on processes counts. */
export function tasksOf(uid: number): number {
  let tasks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const [, owner] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
      if (Number(owner) === uid) tasks += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]);
    } catch {
      // It ended while we looked.
    }
  }
  return tasks;
}
