// Loaded into the server before its own code: tells on request what keeps its event loop alive and what it holds.
import { writeFileSync } from 'node:fs';

const file = process.env.EXECWIRE_CHAOS_REPORT;
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(file, `${JSON.stringify({ timers, heldBytes: heapUsed + external })}\n`);
});
