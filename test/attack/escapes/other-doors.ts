import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocketApp } from '../../../testkit/app-server.mjs';
import { asIdentity } from '../../harness/confined-server.js';
import { call } from '../../mcp/call.js';
import { type ConnectedProcess, connectStdio } from '../../mcp/clients.js';
import type { Attacker, DoorSite, OpenDoor } from './door.js';
import type { PolicyName } from './escape.js';

const BASES: Record<PolicyName, string> = {
  readOnly: ':read-only',
  workspace: ':workspace',
  network: ':workspace',
};

/** Defines each policy as a profile that also hides the secrets, and `/tmp` is not writable. Returns what a server needs to find them. */
function profilesAt({ place, secrets }: DoorSite): Record<string, string> {
  const home = join(place.base, 'home');
  mkdirSync(home, { recursive: true });
  const profiles = Object.entries(BASES).map(
    ([name, base]) =>
      `[permissions.${name}]\nextends = "${base}"\n` +
      `[permissions.${name}.filesystem]\n${JSON.stringify(secrets)} = "deny"\n":slash_tmp" = "read"\n` +
      (name === 'network' ? `[permissions.${name}.network]\nenabled = true\n` : ''),
  );
  writeFileSync(join(home, 'permissions.toml'), profiles.join(''));
  return { HOME: place.base, EXECWIRE_HOME: home, TMPDIR: '' };
}

/** `execwire app-server`, with a profile, or a policy of its own where there are several roots. */
export const appServerDoor: OpenDoor<DoorSite> = async (site, more = {}) => {
  const { identity, place } = site;
  // Without the secret: as with Codex, programs inherit the environment of the server.
  const env = { ...profilesAt(site), ...more };
  const app = await WebSocketApp.start({
    args: ['--listen', 'ws://127.0.0.1:0', '--default-sandbox', 'read-only', '--log-level', 'silent'],
    wrapper: asIdentity(identity),
    cwd: place.workspace,
    env,
  });
  const { client } = await app.connect();
  await client.initialize();
  return {
    ports: [Number(new URL(app.url).port)],
    run: async (attacker) => {
      const { stdout } = await client.call('command/exec', {
        command: attacker.argv,
        env: attacker.env,
        disableTimeout: true,
        ...appPolicy(attacker),
      });
      return String(stdout);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
};

function appPolicy({ policy, ownRoots }: Attacker): object {
  if (policy === null) return { sandboxPolicy: { type: 'dangerFullAccess' } };
  if (!ownRoots) return { permissionProfile: policy };
  if (policy === 'readOnly') return { sandboxPolicy: { type: 'readOnly' } };
  const networkAccess = policy === 'network';
  return { sandboxPolicy: { type: 'workspaceWrite', writableRoots: ownRoots, networkAccess } };
}

/** `execwire mcp --sandbox …`, one for each policy, because no model chooses its own. */
export const mcpDoor: OpenDoor<DoorSite> = async (site, more = {}) => {
  const env = { ...profilesAt(site), ...more };
  const cwd = site.place.workspace;
  const wrapper = asIdentity(site.identity);
  const servers = new Map<string, ConnectedProcess>();
  return {
    ports: [],
    run: async (attacker) => {
      const args = mcpPolicy(attacker);
      const server = servers.get(args.join('\0')) ?? (await connectStdio({ wrapper, args, cwd, env }));
      servers.set(args.join('\0'), server);
      const assignments = Object.entries(attacker.env).map(([name, value]) => `${name}=${value}`);
      const { text } = await call(server.client, 'exec_command', {
        cmd: [...(assignments.length > 0 ? ['env'] : []), ...assignments, ...attacker.argv]
          .map(quoted)
          .join(' '),
        login: false,
        tty: attacker.tty,
        raw: true,
        yield_time_ms: 300_000,
        max_output_tokens: 1_000_000,
      });
      return text;
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers.values()) await server[Symbol.asyncDispose]();
    },
  };
};

function mcpPolicy({ policy, ownRoots }: Attacker): string[] {
  if (policy === null) return [];
  if (!ownRoots) return ['--sandbox', policy];
  if (policy === 'readOnly') return ['--sandbox', 'read-only'];
  const network = policy === 'network' ? ['--network'] : [];
  return [...network, '--sandbox', 'workspace-write', ...ownRoots.flatMap((root) => ['--writable', root])];
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
