// Needs: bwrap, setpriv
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, chownSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { asIdentity } from '../harness/confined-server.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { call } from '../mcp/call.js';
import { connectHttp, connectStdio } from '../mcp/clients.js';
import { watchFor } from './command-line-watch.js';
import { appServerDoor, mcpDoor } from './escapes/other-doors.js';
import { limitMs, tally, tries } from './tally.js';

const PARENT = '/var/tmp';
const PROGRAMS = tries(12);
const LIMIT_MS = limitMs(60_000);
/** In nobody else's command line, on a machine where others work too. */
const WORD = `hidden${randomBytes(6).toString('hex')}`;

const siteAt = (identity: Identity, place: Place) => ({
  identity,
  place,
  secrets: join(place.base, 'secrets'),
});

/** A program that says what its environment holds, and takes a while. */
const TELL = sh('sleep 0.02; echo "$SECRET"');

describe.each(identities)('through other doors, as $name', (identity) => {
  test.each([
    // A model names no variables; its programs have those of the server.
    ['an app server', appServerDoor, (number: number) => ({ SECRET: `${WORD}-${number}` })],
    ['the tools of a model', mcpDoor, () => ({})],
  ] as const)(
    'nobody sees the environment of a confined program in a command line: %s',
    { timeout: LIMIT_MS },
    async (name, open, env) => {
      using place = new Place(identity, PARENT);
      const own = siteAt(identity, place);
      mkdirSync(own.secrets);
      await using door = await open(own, { SECRET: `${WORD}-server` });
      const said: string[] = [];
      const { found } = await watchFor(WORD, async () => {
        for (let number = 0; number < PROGRAMS; number += 1)
          said.push(await door.run({ argv: TELL, env: env(number), policy: 'workspace', tty: false }));
      });
      tally(`secrets in command lines through ${name}`, { tries: PROGRAMS, successes: found.length });
      expect(found).toEqual([]);
      expect(said.filter((text) => text.includes(`${WORD}-`))).toHaveLength(PROGRAMS);
    },
  );

  test.each([
    ['an app server', appServerDoor],
    ['the tools of a model', mcpDoor],
  ] as const)('nothing a confined program left in PATH is run outside: %s', async (name, open) => {
    using place = new Place(identity, PARENT);
    const own = siteAt(identity, place);
    const [bin, ran] = [join(place.workspace, 'bin'), join(place.outside, 'ran')];
    for (const path of [own.secrets, bin]) {
      mkdirSync(path);
      if (identity.uid !== undefined) chownSync(path, identity.uid, identity.uid);
    }
    const names = [
      'rg',
      'bwrap',
      'sh',
      'dash',
      'bash',
      'env',
      'setsid',
      'prlimit',
      'unshare',
      'sleep',
      'node',
    ];
    const trap = `#!/bin/sh\necho ran >> '${ran}'\n`;
    const plant = names.map((each) => `printf '%s' "$0" > ${bin}/${each}; chmod 755 ${bin}/${each}`);
    const path = { PATH: `${bin}:/usr/bin:/bin` };
    for (const _server of ['the first', 'the next']) {
      await using door = await open(own, path);
      const run = (argv: string[]) => door.run({ argv, env: {}, policy: 'workspace', tty: false });
      await run(['/bin/sh', '-c', plant.join('; '), trap]);
      expect(existsSync(join(bin, 'bwrap'))).toBe(true);
      for (let count = 0; count < 3; count += 1) await run(['/bin/true']);
    }
    tally(`programs left in PATH through ${name}`, {
      tries: names.length,
      successes: existsSync(ran) ? 1 : 0,
    });
    expect(existsSync(ran)).toBe(false);
  });

  test('a search for a model runs no ripgrep that its programs left in PATH', async () => {
    using place = new Place(identity, PARENT);
    const [bin, ran] = [join(place.workspace, 'bin'), join(place.outside, 'ran')];
    mkdirSync(bin);
    if (identity.uid !== undefined) chownSync(bin, identity.uid, identity.uid);
    writeFileSync(join(place.workspace, 'text'), 'needle\n');
    await using connected = await connectStdio({
      wrapper: asIdentity(identity),
      args: ['--sandbox', 'workspace-write'],
      cwd: place.workspace,
      env: { HOME: place.base, TMPDIR: '', PATH: `${bin}:/usr/bin:/bin` },
    });
    const cmd = `printf '#!/bin/sh\\necho ran >> ${ran}\\n' > bin/rg; /bin/chmod 755 bin/rg`;
    await call(connected.client, 'exec_command', { cmd, login: false, tty: false });
    expect(existsSync(join(bin, 'rg'))).toBe(true);
    const { text } = await call(connected.client, 'search', { path: '.', pattern: 'needle' });
    expect(text).toContain('needle');
    expect(existsSync(ran)).toBe(false);
  });
});

test('a program of a model with network does not reach the tools, even with the token', async () => {
  using place = new Place({ name: 'current user' }, PARENT);
  const token = join(place.workspace, 'token');
  writeFileSync(token, 'open-sesame-and-then-some\n', { mode: 0o600 });
  const args = ['--sandbox', 'workspace-write', '--network', '--token-file', token];
  const child = spawn(process.execPath, [bin, 'mcp', ...args, '--listen', 'http://127.0.0.1:0'], {
    cwd: place.workspace,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    await using connected = await connectHttp({ url, token: 'open-sesame-and-then-some' });
    const script = `fetch('${url}', { method: 'POST', headers: { authorization: 'Bearer open-sesame-and-then-some' } })
      .then(async (answer) => console.log(answer.status, await answer.text()), (error) => console.log(error.cause?.code))`;
    writeFileSync(join(place.workspace, 'reach.mjs'), script);
    const run = (cmd: string) => call(connected.client, 'exec_command', { cmd, login: false, tty: false });
    expect((await run(`'${process.execPath}' reach.mjs`)).text).toContain('403 connections from sandboxes');
    expect((await run('cat token')).text).not.toContain('open-sesame');
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
});
