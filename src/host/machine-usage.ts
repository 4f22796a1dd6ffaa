import { readFileSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, totalmem, uptime } from 'node:os';
import type { ExecResult } from '../protocol/index.js';

/** How busy this machine is, and what this process takes of it. */
export function machineUsage(): ExecResult<'environment/usage'> {
  const { user, system } = process.cpuUsage();
  return {
    cpus: availableParallelism(),
    loadAverage: loadavg(),
    memoryBytes: totalmem(),
    availableBytes: availableMemory(),
    uptimeMs: Math.round(uptime() * 1000),
    serverBytes: process.memoryUsage.rss(),
    serverCpuMs: Math.round((user + system) / 1000),
  };
}

/** Linux counts caches that can be given up; elsewhere, only what nobody uses is known. */
function availableMemory(): number {
  try {
    const found = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'latin1'));
    if (found) return Number(found[1]) * 1024;
  } catch {
    // Not on Linux.
  }
  return freemem();
}
