import { readdirSync, readFileSync } from 'node:fs';

/** Pids of all `sleep`s for this many seconds. Zombies have no command line. */
export function sleepers(seconds: string): number[] {
  return pids().filter((pid) => {
    const [program, argument] = readProc(pid, 'cmdline').split('\0');
    return (program === 'sleep' || program === '/bin/sleep') && argument === seconds;
  });
}

/** Whether the process exists and is not just waiting to be reaped. */
export function isRunning(pid: number): boolean {
  const [state = ''] = status(pid);
  return state !== '' && state !== 'Z';
}

/** Ended children of this process that nobody has reaped. */
export function zombieChildren(): number[] {
  return pids().filter((pid) => {
    const [state, parent] = status(pid);
    return state === 'Z' && Number(parent) === process.pid;
  });
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** State letter, parent and so on: what follows the program's name. */
function status(pid: number): string[] {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
