import { readFileSync } from 'node:fs';

/** What a process has in memory. */
export function residentMb(pid: number): number {
  return memoryMb(pid, 'VmRSS');
}

/** The most it ever had. */
export function peakMb(pid: number): number {
  return memoryMb(pid, 'VmHWM');
}

function memoryMb(pid: number, name: string): number {
  const [, kb] =
    new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}
