// Loaded into a server before its own code: tells on request (SIGUSR2) what keeps its event loop alive and what it holds.
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const file = process.env.EXECWIRE_RESOURCE_REPORT;
// For this process alone, not for what it starts.
delete process.env.NODE_OPTIONS;
delete process.env.EXECWIRE_RESOURCE_REPORT;

process.on('SIGUSR2', () => {
  collectGarbage();
  const kinds = process.getActiveResourcesInfo();
  const { rss, heapUsed, external } = process.memoryUsage();
  const timers = kinds.filter((kind) => kind === 'Timeout').length;
  const handles = kinds.length - timers;
  writeFileSync(file, `${JSON.stringify({ timers, handles, rss, heldBytes: heapUsed + external })}\n`);
});
