import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfinedServer, special } from '../../harness/confined-server.js';
import { outputOf, startParams } from '../../../testkit/wire-client.mjs';
import type { PolicyName } from './escape.js';
import type { Site } from './site.js';

/** A program somebody starts through a door. */
export interface Attacker {
  readonly argv: string[];
  readonly env: Record<string, string>;
  readonly tty: boolean;
  /** Null: nothing holds it back. */
  readonly policy: PolicyName | null;
  /** What it may write to, with the names that are protected in each. Absent: the workspace. */
  readonly ownRoots?: readonly string[] | undefined;
}

/** One of the ways in which Execwire starts programs under a policy. */
export interface Door extends AsyncDisposable {
  /** Ports of ours, which nothing confined may reach. */
  readonly ports: readonly number[];
  /** Starts a program and waits for its end. Returns what it printed. */
  run(attacker: Attacker): Promise<string>;
}

/** What a door opens to. */
export type DoorSite = Pick<Site, 'identity' | 'place' | 'secrets'>;

export type OpenDoor<Needs = Site> = (site: Needs, env?: Record<string, string>) => Promise<Door>;

/** `execwire serve`, with the policy in each request. */
export const execServerDoor: OpenDoor = (site, more) => openServer(site, { more });

/** The same, where whatever a program writes is held in a set of its own. */
export const holdingDoor: OpenDoor = (site, more) =>
  openServer(site, { more, holds: { changes: 'hold' }, args: ['--changes-dir', setsOf(site)] });

/** Where a door keeps what is held. */
export function setsOf({ place }: Pick<Site, 'place'>): string {
  return join(place.base, 'sets');
}

async function openServer(
  site: Site,
  {
    more = {},
    holds = {},
    args = [],
  }: { more?: Record<string, string> | undefined; holds?: object; args?: readonly string[] },
): Promise<Door> {
  const { identity, place, secret } = site;
  const host = await ConfinedServer.start(identity, {
    place,
    args,
    env: { EXECWIRE_ATTACK_SECRET: secret, ...more },
  });
  let runs = 0;
  return {
    ports: [Number(new URL(host.server.url).port)],
    run: async ({ argv, env, tty, policy, ownRoots }) => {
      runs += 1;
      const id = `attack${runs}`;
      const sandbox =
        policy === null ? {} : { tty, sandbox: { ...sandboxOf(site, policy, ownRoots), ...holds } };
      const { error } = await host.client.ask(
        'process/start',
        startParams(id, argv, { cwd: host.cwd, env, ...sandbox }),
      );
      if (error) throw new Error(`not started: ${JSON.stringify(error)}\n${host.server.stderr}`);
      return outputOf(await host.client.closedEvents(id)).toString();
    },
    [Symbol.asyncDispose]: async () => void (await host.server.stop()),
  };
}

function sandboxOf({ place, secrets }: Site, policy: PolicyName, ownRoots?: readonly string[]): object {
  const uri = (path: string) => pathToFileURL(path).href;
  const hidden = { path: { type: 'path', path: uri(secrets) }, access: 'none' };
  const writable = policy === 'readOnly' ? [] : [special('project_roots', 'write')];
  return {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries: [special('root', 'read'), ...writable, hidden] },
      network: policy === 'network' ? 'enabled' : 'restricted',
    },
    cwd: uri(place.workspace),
    workspaceRoots: (ownRoots ?? [place.workspace]).map(uri),
  };
}
