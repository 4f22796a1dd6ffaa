import { readFileSync, writeFileSync } from 'node:fs';

/** Tells the kernel to forget the highest memory use so far (see proc(5), clear_refs). */
const RESET_PEAK = '5';

/** MB (10^6 bytes) by which a process was larger at its largest during `work` than right before it. */
export async function growthDuring(pid, work) {
  writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
  const before = statusMb(pid, 'VmRSS');
  await work();
  return statusMb(pid, 'VmHWM') - before;
}

function statusMb(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024) / 1e6;
}
