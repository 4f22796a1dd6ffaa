import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { rounded } from './stats.mjs';

/** When, where and with what this run was made. Names no host and no path. */
export function describeRun({ codex, short }) {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    short,
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown',
      cores: processors.length,
      memoryGb: Math.round(totalmem() / 1e9),
      kernel: `Linux ${release()}`,
      // Tells a quiet machine from a busy one: beyond the number of cores, times are those of a crowd.
      loadBefore: rounded(loadavg()[0]),
    },
    versions: { execwire: version, node: process.version, codex: codex?.version ?? null },
  };
}
