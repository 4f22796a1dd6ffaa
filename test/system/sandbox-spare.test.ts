import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import { outputOf, sh, startParams } from '../../testkit/wire-client.mjs';
import { makeProtected, NAMESPACE, untilOneWaits, waitingShells } from '../harness/waiting-sandbox.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { attackOn, Host, layOut, surprises } from '../host/sandbox/hostile-host.js';

/** A server on which a sandbox waits for the next program. */
async function warmServer(identity: Identity, { placeholders = false } = {}): Promise<ConfinedServer> {
  const place = new Place(identity);
  if (!placeholders) makeProtected(place, identity);
  return await ConfinedServer.start(identity, { place });
}

const untilWarm = (host: ConfinedServer) => untilOneWaits(host.server.pid, () => host.run(['true']));

/** A program that names a loader that does not exist. */
function breakLoader(path: string): void {
  const program = readFileSync('/bin/true');
  program.write('no', program.indexOf('ld-linux'), 'latin1');
  writeFileSync(path, program);
  chmodSync(path, 0o755);
}

describe.each(identities)('a sandbox that waited, as $name', (identity) => {
  test('is the one the next program runs in', async () => {
    await using host = await warmServer(identity);
    const { namespace } = await untilWarm(host);
    const { text, exit } = await host.run(sh(`${NAMESPACE}; pwd; ls /proc/self/fd; exit 7`));
    expect(text).toBe(`${namespace}\n${host.place.workspace}\n0\n1\n2\n3\n`);
    expect(exit).toMatchObject({ exitCode: 7, sandboxDenied: false });
  });

  test('gives the program its very arguments, environment and input', async () => {
    await using host = await warmServer(identity);
    const { namespace } = await untilWarm(host);
    const words = [
      "it's",
      '',
      ' two  words ',
      '$HOME `id` "x" \\',
      'line\nbreak\n',
      'ünïcödé',
      '-i',
      'A=b',
      '*',
    ];
    const env = { PATH: '/usr/bin:/bin', QUOTED: "a'b", EMPTY: '', TEXT: '1\n2', PWD: '/elsewhere' };
    const script = `${NAMESPACE}; for word; do printf '%s\\0' "$word"; done; tr '\\0' '|' < /proc/$$/environ; cat`;
    const argv = ['sh', '-c', script, 'name', ...words];
    await host.client.call('process/start', host.params('p', argv, { env, pipeStdin: true }));
    const chunk = Buffer.from('typed').toString('base64');
    await host.client.call('process/write', { processId: 'p', chunk, writeId: '1' });
    await host.client.call('process/closeStdin', { processId: 'p' });
    const said = outputOf(await host.client.closedEvents('p')).toString();
    expect(said.startsWith(`${namespace}\n`)).toBe(true);
    const parts = said.slice(namespace.length + 1).split('\0');
    expect(parts.slice(0, -1)).toEqual(words);
    const expected = { ...env, CODEX_SANDBOX_NETWORK_DISABLED: '1', PWD: host.place.workspace };
    const variables = Object.entries(expected).map(([name, value]) => `${name}=${value}`);
    expect(parts.at(-1)?.split('|').sort()).toEqual([...variables, 'typed'].sort());
  });

  test.each([true, false])(
    'keeps a hostile program to its policy, names missing: %s',
    async (placeholders) => {
      await using host = await warmServer(identity, { placeholders });
      layOut(host.place);
      await using servers = new Host(host.place);
      await servers.open();
      const { pid } = await untilWarm(host);
      const { text, exit } = await host.run(attackOn(host.place, servers), {
        env: { PATH: '/usr/bin:/bin' },
      });
      expect(waitingShells(host.server.pid).map((shell) => shell.pid)).not.toContain(pid);
      expect(exit).toMatchObject({ exitCode: 0 });
      const met = surprises(JSON.parse(text) as Record<string, string>);
      // Names that are there cannot be missing.
      expect(met.filter(([name]) => placeholders || !name.includes('Missing'))).toEqual([]);
      expect(servers.visitors).toBe(0);
      expect(readFileSync(join(host.place.outside, 'kept'), 'utf8')).toBe('original');
    },
  );

  test('ends with its program: on a signal it handles, and killed with all it started', async () => {
    await using host = await warmServer(identity);
    const start = async (id: string, script: string) => {
      const { namespace } = await untilWarm(host);
      await host.client.call('process/start', host.params(id, sh(`${NAMESPACE}; ${script}`)));
      await host.client.until(() => host.client.output(id).toString() === `${namespace}\nready\n`);
    };
    await start('s', 'trap "exit 9" TERM; echo ready; while :; do sleep 0.01; done');
    await host.client.call('process/signal', { processId: 's', signal: 'SIGTERM' });
    const exitOf = (events: { method: string; params: unknown }[]) =>
      events.find(({ method }) => method === 'process/exited')?.params;
    expect(exitOf(await host.client.closedEvents('s'))).toMatchObject({ exitCode: 9 });
    await start('k', 'setsid sleep 1000 & echo ready; wait');
    await host.client.call('process/terminate', { processId: 'k' });
    expect(exitOf(await host.client.closedEvents('k'))).toMatchObject({ exitCode: 137 });
  });

  test('is not used once a protected name is another directory', async () => {
    await using host = await warmServer(identity);
    await untilWarm(host);
    const { workspace } = host.place;
    // What was mounted over it goes with it.
    renameSync(join(workspace, '.git'), join(workspace, 'old'));
    makeProtected(host.place, identity);
    const { text } = await host.run(
      sh('touch .git/new 2>/dev/null || echo kept; touch old/new; ls .git old'),
    );
    expect(text).toBe('kept\n.git:\n\nold:\nnew\n');
  });

  test('is not used once the workspace is another directory', async () => {
    await using host = await warmServer(identity);
    await untilWarm(host);
    const { workspace, outside } = host.place;
    renameSync(workspace, join(outside, 'moved'));
    mkdirSync(workspace);
    chmodSync(workspace, 0o777);
    makeProtected(host.place, identity);
    const script = `touch ${outside}/moved/new 2>/dev/null || echo kept; touch new; ls`;
    expect((await host.run(sh(script))).text).toBe('kept\nnew\n');
  });

  test('waits on when a program cannot be started, and the errors are those of any start', async () => {
    await using host = await warmServer(identity);
    const { namespace } = await untilWarm(host);
    const missing = await host.client.ask('process/start', host.params('m', ['no-such-program']));
    expect(missing.error?.data).toMatchObject({ reason: 'programNotFound', errno: 'ENOENT' });
    const nowhere = pathToFileURL(join(host.place.workspace, 'nowhere')).href;
    const lost = await host.client.ask('process/start', host.params('l', ['true'], { cwd: nowhere }));
    expect(lost.error?.data).toMatchObject({ reason: 'cwdNotFound' });
    const { text } = await host.run(sh(NAMESPACE));
    expect(text).toBe(`${namespace}\n`);
  });

  test('a program that only turns out to be none inside is the same error, and no other end is', async () => {
    await using host = await warmServer(identity);
    breakLoader(join(host.place.workspace, "brökén it's"));
    const { pid } = await untilWarm(host);
    const { error } = await host.client.ask('process/start', host.params('p', ["./brökén it's"]));
    expect(waitingShells(host.server.pid).map((shell) => shell.pid)).not.toContain(pid);
    expect(error?.data).toMatchObject({ code: 'spawnFailed', reason: 'notExecutable', errno: 'ENOENT' });
    await untilWarm(host);
    writeFileSync(join(host.place.workspace, 'script'), '#!/usr/bin/env no-such-thing\n', { mode: 0o755 });
    const { exit } = await host.run(['./script']);
    expect(exit).toMatchObject({ exitCode: 127 });
  });

  test('does not wait for long where it keeps names free that others can see', async () => {
    await using host = await warmServer(identity, { placeholders: true });
    await untilWarm(host);
    await expect.poll(() => waitingShells(host.server.pid)).toEqual([]);
    await expect.poll(() => readdirSync(host.place.workspace)).toEqual([]);
  });

  test('leaves the names it keeps free to those who are not confined, and protects what they make of them', async () => {
    await using host = await warmServer(identity, { placeholders: true });
    await untilWarm(host);
    const making = sh('mkdir -p .git && echo theirs > .git/config && echo made');
    await host.client.call('process/start', startParams('free', making, { cwd: host.cwd }));
    expect(outputOf(await host.client.closedEvents('free')).toString()).toBe('made\n');
    const { text } = await host.run(sh('(echo mine > .git/config) 2>&- || cat .git/config'));
    expect(text).toBe('theirs\n');
    await expect.poll(() => readdirSync(host.place.workspace)).toEqual(['.git']);
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('is gone with its server, on %s', async (signal) => {
    await using host = await warmServer(identity);
    const { pid } = await untilWarm(host);
    await host.server.stop(signal);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test.each([
    ['a terminal', { tty: true }, 'PATH=/usr/bin:/bin'],
    ['another name', { arg0: 'other' }, 'PATH=/usr/bin:/bin'],
    ['a variable no shell can set', { env: { PATH: '/usr/bin:/bin', 'odd.name': 'x' } }, 'odd.name=x'],
  ])('waits on while a program gets its own that needs %s', async (_what, more, expected) => {
    await using host = await warmServer(identity);
    const { pid } = await untilWarm(host);
    const { text, exit } = await host.run(['env'], { env: { PATH: '/usr/bin:/bin' }, ...more });
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(text.split(/\r?\n/)).toContain(expected);
    expect(waitingShells(host.server.pid).map((shell) => shell.pid)).toEqual([pid]);
  });

  test('is made for nobody whose programs need another one each time', async () => {
    await using host = await warmServer(identity);
    const limited = host.sandbox({ maxProcesses: 30 });
    const hiding = host.sandbox({}, [
      { path: { type: 'glob_pattern', pattern: '**/*.env' }, access: 'deny' },
      special('tmpdir', 'write'),
    ]);
    for (const sandbox of [limited, hiding, limited, hiding, limited, hiding])
      await host.run(['true'], { sandbox });
    // One that waits for another policy was made later: by then one of these would have been.
    await untilWarm(host);
    expect(waitingShells(host.server.pid)).toHaveLength(1);
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
