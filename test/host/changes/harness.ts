import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../src/environment/index.js';
import type { Sandbox } from '../../../src/protocol/index.js';
import { outputOf } from '../../../testkit/wire-client.mjs';
import { ConfinedServer } from '../../harness/confined-server.js';
import { makeProtected } from '../../harness/waiting-sandbox.js';
import { type Identity, Place } from '../sandbox/harness.js';

/** A workspace and a place for held changes, both gone at the end. */
export class Scene implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'execwire-changes-'));
  readonly workspace = join(this.folder, 'workspace');
  readonly sets = join(this.folder, 'sets');
  environment: LocalEnvironment;

  constructor() {
    mkdirSync(this.workspace);
    this.environment = new LocalEnvironment({ changesDirectory: this.sets });
  }

  /** Lets another process use the sets that are kept. */
  async letGo(): Promise<void> {
    await this.environment.close();
    this.environment = new LocalEnvironment({ changesDirectory: this.sets });
  }

  file(...names: string[]): string {
    return join(this.workspace, ...names);
  }

  policy(
    changesId = 'task',
    entries: Sandbox['permissions'] extends never ? never : readonly object[] = [],
  ): Sandbox {
    return holdingPolicy([this.workspace], changesId, entries);
  }

  /** Runs a shell script in the workspace, with its changes held. */
  async run(script: string, sandbox: Sandbox = this.policy()): Promise<string> {
    const result = await this.environment.run(['/bin/bash', '-c', script], { cwd: this.workspace, sandbox });
    if (result.exitCode !== 0) throw new Error(`exit code ${result.exitCode}: ${result.stderr}`);
    return result.stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.environment.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Everything is readable, the given directories are writable, and what is written there is held. */
export function holdingPolicy(
  roots: readonly string[],
  changesId: string,
  entries: readonly object[] = [],
): Sandbox {
  const writable = roots.map((path) => ({
    path: { type: 'path', path: pathToFileURL(path).href },
    access: 'write',
  }));
  const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
  return {
    permissions: {
      type: 'managed',
      network: 'restricted',
      // Tests give entries as plain objects.
      file_system: { type: 'restricted', entries: [root, ...writable, ...entries] as never },
    },
    changes: 'hold',
    changesId,
  };
}

/** A server that root or a plain user runs. With the protected names there already, a sandbox made ahead waits for seconds. */
export async function heldServer(identity: Identity): Promise<ConfinedServer> {
  const place = new Place(identity);
  makeProtected(place, identity);
  return await ConfinedServer.start(identity, { place, env: { XDG_STATE_HOME: join(place.base, 'state') } });
}

/** Runs programs there, one after the other, with their changes held. Resolves to what they print. */
export function runnerOf(
  host: ConfinedServer,
): (argv: string[], entries?: readonly object[]) => Promise<string> {
  let count = 0;
  return async (argv, entries = []) => {
    count += 1;
    const sandbox = host.sandbox({ changes: 'hold', changesId: 'task' }, entries);
    await host.client.call('process/start', host.params(`p${count}`, argv, { sandbox }));
    return outputOf(await host.client.closedEvents(`p${count}`)).toString();
  };
}
