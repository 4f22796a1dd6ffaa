import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { gone, pidsWithArgument, stubbornTree } from '../harness/processes.js';
import { outputOf, sh } from '../../testkit/wire-client.mjs';
import { identities } from '../host/sandbox/harness.js';
import { attackOn, Host, layOut, surprises } from '../host/sandbox/hostile-host.js';

const env = { PATH: '/usr/bin:/bin' };

/** Connects to a socket, one without a path if its name begins with @, and says how that went. */
const KNOCK = [
  "const socket = require('node:net').connect(process.argv[1].replace(/^@/, '\\0'));",
  "socket.on('connect', () => { console.log('connected'); process.exit(); });",
  "socket.on('error', ({ code }) => { console.log(code); process.exit(); });",
].join('\n');

describe.each(identities)('a server run by $name', (identity) => {
  test('keeps a hostile program to its policy at every turn', async () => {
    await using host = await ConfinedServer.start(identity);
    await using servers = new Host(host.place);
    await servers.open();
    layOut(host.place);
    const { text, exit } = await host.run(attackOn(host.place, servers), { env });
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(surprises(JSON.parse(text) as Record<string, string>)).toEqual([]);
    expect(servers.visitors).toBe(0);
    expect(readdirSync(host.place.outside)).toEqual(['kept']);
    expect(readFileSync(join(host.place.outside, 'kept'), 'utf8')).toBe('original');
  });

  test('passes on none of its own descriptors', async () => {
    await using host = await ConfinedServer.start(identity);
    await host.client.call('process/start', host.params('other', ['cat'], { pipeStdin: true }));
    // The fourth is the listing's own.
    expect((await host.run(sh('ls /proc/self/fd'))).text).toBe('0\n1\n2\n3\n');
  });

  test('opens unix sockets to those who may, and only those with a path', async () => {
    await using host = await ConfinedServer.start(identity);
    await using servers = new Host(host.place);
    await servers.open();
    const knock = async (path: string, more: object) => {
      const sandbox = host.sandbox({ ...more });
      return (await host.run([process.execPath, '-e', KNOCK, path], { sandbox })).text.trim();
    };
    const unixSockets = 'allowed';
    expect(await knock(servers.socketPath, {})).toBe('EPERM');
    expect(await knock(servers.socketPath, { unixSockets: 'blocked' })).toBe('EPERM');
    expect(await knock(servers.socketPath, { unixSockets })).toBe('connected');
    // Names without a path belong to the network, which is still cut.
    expect(await knock(`@${servers.abstractName}`, { unixSockets })).toBe('ECONNREFUSED');
  });

  test('bounds a fork bomb, and goes on', async () => {
    await using host = await ConfinedServer.start(identity);
    const mark = `1000.${process.pid}${identity.uid ?? 0}`;
    // Never more than 100 tries: the machine survives even if the limit does not hold.
    const bomb = `i=0; while [ $i -lt 100 ]; do i=$((i+1)); sleep ${mark} & done; echo all; wait`;
    const sandbox = host.sandbox({ maxProcesses: 30 });
    await host.client.call('process/start', host.params('bomb', sh(bomb), { sandbox }));
    const events = await host.client.closedEvents('bomb');
    const exited = events.find(({ method }) => method === 'process/exited');
    expect(exited?.params).toMatchObject({ exitCode: 2 });
    expect(outputOf(events).toString()).toMatch(/^[^\n]*fork[^\n]*\n$/i);
    await gone(mark);
    const { text, exit } = await host.run(sh('echo fine | cat'), { sandbox });
    expect({ text, exit }).toMatchObject({ text: 'fine\n', exit: { exitCode: 0 } });
  });

  test('runs a hundred sandboxes at once', async () => {
    await using host = await ConfinedServer.start(identity);
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const all = await Promise.all(
      numbers.map((number) => host.run(sh(`mkdir .git 2>/dev/null; echo ${number}; exit ${number}`))),
    );
    expect(all.map(({ text, exit }) => [text, exit.exitCode])).toEqual(
      numbers.map((number) => [`${number}\n`, number]),
    );
    await expect.poll(() => readdirSync(host.place.workspace)).toEqual([]);
  });

  test('leaves nothing behind when it is killed', async () => {
    await using host = await ConfinedServer.start(identity);
    const mark = `left-${host.place.base}`;
    const ready = join(host.place.workspace, 'ready');
    await host.client.call('process/start', host.params('p', sh(stubbornTree(mark, ready))));
    await expect.poll(() => readdirSync(host.place.workspace), { timeout: 10_000 }).toContain('ready');
    expect(pidsWithArgument(mark).length).toBeGreaterThanOrEqual(3);
    await host.server.stop('SIGKILL');
    await gone(mark);
    // The empty directories that kept names free are taken over by the next one, and removed.
    await using next = await ConfinedServer.start(identity, { place: host.place });
    await next.run(['true']);
    await expect.poll(() => readdirSync(host.place.workspace)).toEqual(['ready']);
  });
});
