// One way to start `/bin/true` or to read a file, with or without a policy. Usage: confined.mjs WHAT, see `actions`.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** What one would type to get a sandbox of this kind: no filter, no protected names, no bound on memory. */
const byHand = [
  ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', workspace, workspace],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--die-with-parent', '--new-session', '--', '/bin/true'],
];

const environment = new LocalEnvironment();
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };

async function run(argv, more = {}) {
  const child = await environment.start({ argv, cwd: workspace, envPolicy: null, env, ...more });
  const end = await child.wait();
  if (end.exitCode !== 0) throw new Error(`it ended with ${end.exitCode}`);
}

const actions = {
  start: () => run(['/bin/true']),
  'start-by-hand': () => run(byHand),
  'start-confined': () => run(['/bin/true'], { sandbox }),
  read: () => environment.files.readFile(file),
  'read-confined': () => environment.files.readFile(file, { sandbox }),
};

const action = actions[process.argv[2]];
await serveSamples(async () => {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
});
await environment.close();
rmSync(workspace, { recursive: true, force: true });
process.exit(0);
