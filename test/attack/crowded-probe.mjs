// Asks what the sandbox can do while a process has room for few descriptors, and again when it has room.
// Started as `node crowded-probe.mjs ROOM`; the limit on open files should be low. Says both answers as JSON.
import { closeSync, openSync } from 'node:fs';
import { hostCapabilities } from '../../dist/host/index.js';
import { sandboxSupport } from '../../dist/host/sandbox/index.js';

const room = Number(process.argv[2]);
const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null'));
} catch {
  for (const fd of taken.splice(0, room)) closeSync(fd);
}
const verdict = async () => {
  const backend = hostCapabilities().backend;
  const support = await sandboxSupport().catch((error) => ({
    available: false,
    reason: `thrown: ${error.code}`,
  }));
  const { available, reason, laterMounts, processLimit } = support;
  return { backend, available, reason, laterMounts, processLimit };
};
const crowded = await verdict();
for (const fd of taken.splice(0)) closeSync(fd);
// Node keeps a timer for each child it could not start.
process.stdout.write(JSON.stringify({ crowded, free: await verdict() }), () => process.exit());
