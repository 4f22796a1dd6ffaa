// What one call costs through an Environment: argv is WHAT (start, echo or read) and where ("local" or a URL).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../../dist/environment/index.js';
import { serveSamples } from './serve-samples.mjs';

const KIB = 1024;
const [what, where] = process.argv.slice(2);
const environment = await openEnvironment(where);
const folder = mkdtempSync(join(tmpdir(), 'execwire-bench-'));

const actions = { start, echo, read };
await serveSamples(await actions[what]());
await environment.close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

/** `/bin/true` until its end is known. */
async function start() {
  const spec = { argv: ['/bin/true'], envPolicy: null, env: { PATH: '/usr/bin:/bin' } };
  return timed(async () => {
    const child = await environment.start(spec);
    await child.wait();
  });
}

/** Six bytes to `cat` until they are back. */
async function echo() {
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const events = cat.events();
  return timed(async () => {
    await Promise.all([events.next(), cat.write('hello\n')]);
  });
}

async function read() {
  const path = join(folder, 'kib');
  writeFileSync(path, Buffer.alloc(KIB, 7));
  return timed(() => environment.files.readFile(path));
}

function timed(action) {
  return async () => {
    const begun = performance.now();
    await action();
    return performance.now() - begun;
  };
}
