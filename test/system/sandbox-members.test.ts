import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, special } from '../harness/confined-server.js';
import { sh } from '../../testkit/wire-client.mjs';
import { identities } from '../host/sandbox/harness.js';

const uri = (path: string): string => pathToFileURL(path).href;

/** The nodes of a private /dev. */
const OWN_DEVICES = 'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero';

describe.each(identities)('members of a sandbox, as $name', (identity) => {
  /** Prints which of the two places can be written. */
  const writable = ({ place }: ConfinedServer): string[] =>
    sh(`for d in ${place.workspace} ${place.outside}; do touch $d/x 2>/dev/null && basename $d; done; true`);

  test('a policy context takes the place of the roots', async () => {
    await using host = await ConfinedServer.start(identity);
    const roots = (workspaceRoots: string[]) => ({ policyContext: { workspaceRoots } });
    const run = async (more: Record<string, unknown>): Promise<string> =>
      (await host.run(writable(host), { sandbox: host.sandbox(more) })).text;
    expect(await run({})).toBe('workspace\n');
    expect(await run({ policyContext: null })).toBe('workspace\n');
    expect(await run(roots([uri(host.place.outside)]))).toBe('outside\n');
    expect(await run(roots([]))).toBe('');
    expect(await run({ policyContext: {} })).toBe('');
    expect(await run({ workspaceRoots: [] })).toBe('');
  });

  test('the older name of the roots means them', async () => {
    await using host = await ConfinedServer.start(identity);
    const permissions = {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [special('root', 'read'), special('current_working_directory', 'write')],
      },
      network: 'restricted',
    };
    const sandbox = host.sandbox({ permissions, cwd: uri(host.place.outside) });
    expect((await host.run(writable(host), { sandbox })).text).toBe('workspace\n');
  });

  test.each(['noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt'])(
    'the permissions hold whatever was approved: %s',
    async (sandboxOverride) => {
      await using host = await ConfinedServer.start(identity);
      const sandbox = host.sandbox({ sandboxOverride });
      expect((await host.run(writable(host), { sandbox })).text).toBe('workspace\n');
    },
  );

  test('an approved escalation keeps what is denied, and has devices of its own', async () => {
    await using host = await ConfinedServer.start(identity);
    const { capabilities } = await host.client.call('environment/info');
    expect(capabilities).toMatchObject({
      linuxApprovedRootWritePreservesRestrictions: true,
      linuxRootWritePreservesDevices: true,
    });
    const secret = join(host.place.workspace, 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key'), 'never shown');
    const path = (name: string, access: string) => ({ path: { type: 'path', path: uri(name) }, access });
    const entries = [special('root', 'write'), path(secret, 'deny'), path('/.git', 'write')];
    const sandbox = host.sandbox({
      permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'enabled' },
      sandboxOverride: 'escalatedSandboxWithRestrictions',
    });
    const script =
      `cat ${secret}/key || echo hidden; mv ${secret} ${secret}2 || echo stays; rm -r ${secret} || echo kept; ` +
      `touch ${host.place.outside}/x && echo wrote; echo $(ls /dev)`;
    const { text } = await host.run(sh(`exec 2>/dev/null; ${script}`), { sandbox });
    expect(text).toBe(`hidden\nstays\nkept\nwrote\n${OWN_DEVICES}\n`);
  });

  test('shapes are checked', async () => {
    await using host = await ConfinedServer.start(identity);
    const good = [
      { userHomeDir: null },
      { userHomeDir: 'file:///root' },
      { temporaryDirectories: null },
      { windowsSandboxProxySettingsMode: null },
      { windowsSandboxProxySettingsMode: 'preserve' },
      { policyContext: { cwd: null } },
    ];
    for (const more of good) await host.run(['true'], { sandbox: host.sandbox(more) });
    const bad = [
      { userHomeDir: 'relative' },
      { userHomeDir: 3 },
      { temporaryDirectories: 'x' },
      { temporaryDirectories: ['x'] },
      { sandboxOverride: null },
      { sandboxOverride: 'all' },
      { policyContext: 'x' },
      { policyContext: { cwd: 3 } },
      { policyContext: { workspaceRoots: null } },
      { windowsSandboxProxySettingsMode: 'x' },
      { windowsSandboxLevel: 'x' },
    ];
    for (const more of bad) {
      const code = await host.client.refusal(
        'process/start',
        host.params('bad', ['true'], { sandbox: host.sandbox(more) }),
      );
      expect({ more, code }).toEqual({ more, code: -32602 });
    }
  });
});
