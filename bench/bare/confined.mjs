// One way to start `/bin/true` or to read a file, with or without a policy. Usage: confined.mjs WHAT, see `actions`.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../dist/environment/index.js';
import { serveSamples } from './serve-samples.mjs';

/** In memory where there is such a place: how fast a disk makes a directory is not what is measured. */
const MEMORY = '/dev/shm';

const workspace = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'execwire-bench-'));
const file = join(workspace, 'file');
writeFileSync(file, Buffer.alloc(1024));

const place = (kind, access) => ({ path: { type: 'special', value: { kind } }, access });
const sandbox = {
  permissions: {
    type: 'managed',
    file_system: { type: 'restricted', entries: [place('root', 'read'), place('project_roots', 'write')] },
    network: 'restricted',
  },
  workspaceRoots: [pathToFileURL(workspace).href],
};

const held = { ...sandbox, changes: 'hold', changesId: 'bench' };
const changesDirectory = mkdtempSync(join(tmpdir(), 'execwire-bench-sets-'));

const managed = { ...sandbox, networkRules: { allow: ['registry.example'] } };

/** What one would type to get a sandbox of this kind: no filter, no protected names, no bound on memory. */
const byHand = [
  ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', workspace, workspace],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--die-with-parent', '--new-session', '--', '/bin/true'],
];

/** Commands come one after the other, not at once: whoever gives them reads the answer first. */
const PAUSE_MS = 20;

const environment = new LocalEnvironment({ changesDirectory });
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };

async function run(argv, more = {}, where = environment) {
  const begun = performance.now();
  const child = await where.start({ argv, cwd: workspace, envPolicy: null, env, ...more });
  const end = await child.wait();
  const took = performance.now() - begun;
  if (end.kind !== 'exited' || end.exitCode !== 0) throw new Error(`it ended with ${JSON.stringify(end)}`);
  await setTimeout(PAUSE_MS);
  return took;
}

/** One that follows no other, so that no sandbox waits for it. */
async function runFirst(argv, more) {
  const own = new LocalEnvironment();
  try {
    return await run(argv, more, own);
  } finally {
    await own.close();
  }
}

async function read(options) {
  const begun = performance.now();
  await environment.files.readFile(file, options);
  return performance.now() - begun;
}

const actions = {
  start: () => run(['/bin/true']),
  'start-by-hand': () => run(byHand),
  'start-confined': () => run(['/bin/true'], { sandbox }),
  'start-held': () => run(['/bin/true'], { sandbox: held }),
  'start-managed': () => run(['/bin/true'], { sandbox: managed }),
  'start-first-confined': () => runFirst(['/bin/true'], { sandbox }),
  read: () => read(),
  'read-confined': () => read({ sandbox }),
  'read-held': () => read({ sandbox: held }),
};

await serveSamples(actions[process.argv[2]]);
await environment.close();
for (const directory of [workspace, changesDirectory]) rmSync(directory, { recursive: true, force: true });
process.exit(0);
