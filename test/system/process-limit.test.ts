import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import type { ServerProcess } from '../../testkit/server-process.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { Place } from '../host/sandbox/harness.js';

/** Plain users are counted by the kernel itself and have no control groups to leave. */
const isRoot = process.getuid?.() === 0;
const root = { name: 'root' };

/** Everything may be written, and still at most so many processes run. */
const unrestricted = (maxProcesses: number, network = 'restricted') => ({
  permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network },
  maxProcesses,
});

/** Tries to join every control group there is, then says who could be started. Never more than 60 tries. */
const LEAVE = `
for procs in $(awk '$3 ~ /^cgroup2?$/ { print $2 "/cgroup.procs" }' /proc/mounts); do
  (echo 0 > $procs) 2> /dev/null && echo 0 > $procs && echo "joined $procs"
done
i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.5 & done; echo "all started"; wait`;

/** Groups of that server, in every hierarchy. */
function groupsOf({ pid }: ServerProcess): string[] {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const places = mounts.flatMap((line) => {
    const [, path = '', type = ''] = line.split(' ');
    return type.startsWith('cgroup') ? [path] : [];
  });
  return places.flatMap((place) =>
    readdirSync(place)
      .filter((name) => new RegExp(`^execwire-.*-${pid}-`).test(name))
      .map((name) => join(place, name)),
  );
}

describe.runIf(isRoot)('a limit of processes, as root', () => {
  test('cannot be left by joining another control group, whatever may be written', async () => {
    await using host = await ConfinedServer.start(root);
    const { text } = await host.run(sh(LEAVE), { sandbox: unrestricted(20) });
    expect(text).not.toContain('joined');
    expect(text).not.toContain('all started');
    // What is no control group can be written as before.
    const { text: wrote } = await host.run(sh(`echo new > ${host.place.outside}/file && echo wrote`), {
      sandbox: unrestricted(20),
    });
    expect(wrote).toBe('wrote\n');
  });

  test('holds where nothing else is restricted', async () => {
    await using host = await ConfinedServer.start(root);
    const { text } = await host.run(sh(LEAVE), { sandbox: unrestricted(20, 'enabled') });
    expect(text).not.toContain('joined');
    expect(text).not.toContain('all started');
  });

  test('nor by one mounted elsewhere', async () => {
    const place = new Place(root);
    const mounted = `mount -t cgroup -o pids none ${place.outside}`;
    await using host = await ConfinedServer.start(root, {
      place,
      wrapper: ['unshare', '-m', 'sh', '-c', `${mounted} && exec "$@"`, 'sh'],
    });
    const { text } = await host.run(sh(LEAVE), { sandbox: unrestricted(20) });
    expect(text).not.toContain('joined');
    expect(text).not.toContain('all started');
  });

  test('leaves no group behind when the server is killed, once the next one is there', async () => {
    const host = await ConfinedServer.start(root);
    const sandbox = { sandbox: host.sandbox({ maxProcesses: 10 }) };
    await host.client.call('process/start', host.params('p', sh('echo up; sleep 1000'), sandbox));
    await host.client.until(() => host.client.output('p').toString() === 'up\n');
    const made = groupsOf(host.server);
    expect(made).toHaveLength(1);
    await host.server.stop('SIGKILL');
    host.place[Symbol.dispose]();
    // The group is free when nobody is in it any more.
    await expect.poll(() => readFileSync(join(made[0] ?? '', 'cgroup.procs'), 'utf8')).toBe('');
    await using next = await ConfinedServer.start(root);
    await next.run(sh('true'), { sandbox: next.sandbox({ maxProcesses: 10 }) });
    await expect.poll(() => groupsOf(host.server)).toEqual([]);
  });

  test('leaves those alone that belong to a server that runs', async () => {
    await using host = await ConfinedServer.start(root);
    const sandbox = { sandbox: host.sandbox({ maxProcesses: 10 }) };
    await host.client.call('process/start', host.params('p', sh('echo up; sleep 1000'), sandbox));
    await host.client.until(() => host.client.output('p').toString() === 'up\n');
    const [made = ''] = groupsOf(host.server);
    // Empty, as it is for a moment before the first process joins it.
    execFileSync('mkdir', [made.replace(/-\d+$/, '-999999')]);
    try {
      await using next = await ConfinedServer.start(root);
      await next.run(sh('true'), { sandbox: next.sandbox({ maxProcesses: 10 }) });
      expect(groupsOf(host.server)).toContain(made.replace(/-\d+$/, '-999999'));
    } finally {
      execFileSync('rmdir', [made.replace(/-\d+$/, '-999999')]);
    }
  });

  test('a name that is taken is no reason to fail', async () => {
    await using host = await ConfinedServer.start(root);
    const sandbox = { sandbox: host.sandbox({ maxProcesses: 10 }) };
    await host.client.call('process/start', host.params('p', sh('echo up; sleep 1000'), sandbox));
    await host.client.until(() => host.client.output('p').toString() === 'up\n');
    const [made = ''] = groupsOf(host.server);
    const number = Number(/\d+$/.exec(made)?.[0]);
    const taken = made.replace(/\d+$/, String(number + 1));
    execFileSync('mkdir', [taken]);
    try {
      expect((await host.run(sh('echo fine'), sandbox)).text).toBe('fine\n');
    } finally {
      execFileSync('rmdir', [taken]);
    }
  });
});
