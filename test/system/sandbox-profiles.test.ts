import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exec } from '../../testkit/app-client.mjs';
import { StdioApp } from '../../testkit/app-server.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { asIdentity } from '../harness/confined-server.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';

const PROFILES = `
[permissions.docs-only]
extends = ":read-only"
protected_names = ["kept"]

[permissions.docs-only.filesystem]
":project_roots" = { "docs" = "write" }

[permissions.small]
extends = ":workspace"
max_processes = 10

[permissions.blind]
extends = ":workspace"

[permissions.blind.filesystem]
":project_roots" = { "secret" = "none" }
`;

/** Not in a temporary directory: some profiles may write there. */
const PARENT = '/var/tmp';

/** The application server with profiles of its own, run by root or by a plain user. */
class ProfiledApp implements AsyncDisposable {
  readonly place: Place;
  readonly app: StdioApp;

  constructor(identity: Identity) {
    this.place = new Place(identity, PARENT);
    const home = join(this.place.base, 'home');
    mkdirSync(home);
    writeFileSync(join(home, 'permissions.toml'), PROFILES);
    for (const name of ['docs', 'docs/kept', '.git']) this.#openToAll(name);
    this.app = new StdioApp({
      wrapper: asIdentity(identity),
      env: { HOME: home, EXECWIRE_HOME: home },
      cwd: this.place.workspace,
    });
  }

  #openToAll(name: string): void {
    const path = join(this.place.workspace, name);
    mkdirSync(path);
    chmodSync(path, 0o777);
  }

  /** What becomes of a script under a profile, run in the workspace. */
  run(permissionProfile: string, script: string): ReturnType<typeof exec> {
    return exec(this.app.client, script, { permissionProfile, cwd: this.place.workspace });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    this.place[Symbol.dispose]();
  }
}

/** Tries to write to each, and says which of them it could. */
const TRY =
  'for f in here docs/here docs/kept/here .git/here ../outside/here; do (: > $f) 2>/dev/null && echo $f; done; :';

describe.each(identities)('profiles by name as $name', (identity) => {
  test('the built-in and the own ones mean what they say', async () => {
    await using opened = new ProfiledApp(identity);
    await opened.app.client.initialize();
    const { outside } = opened.place;
    const wrote = async (profile: string) =>
      (await opened.run(profile, TRY)).stdout.split('\n').filter(Boolean);
    expect(await wrote(':read-only')).toEqual([]);
    expect(await wrote(':workspace')).toEqual(['here', 'docs/here', 'docs/kept/here']);
    expect(await wrote('docs-only')).toEqual(['docs/here']);
    expect(existsSync(join(outside, 'here'))).toBe(false);
    expect(await wrote(':danger-full-access')).toContain('../outside/here');
    expect(existsSync(join(outside, 'here'))).toBe(true);
  });

  test('hide, and bound the number of processes', async () => {
    await using opened = new ProfiledApp(identity);
    await opened.app.client.initialize();
    const { workspace } = opened.place;
    writeFileSync(join(workspace, 'secret'), 'secret');
    expect((await opened.run('blind', 'cat secret; echo $?')).stdout).toBe('1\n');
    expect(readFileSync(join(workspace, 'secret'), 'utf8')).toBe('secret');
    const bomb = 'i=0; while [ $i -lt 50 ]; do i=$((i+1)); sleep 1000 & done; echo all';
    const { exitCode, stdout, stderr } = await opened.run('small', bomb);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/fork/i),
    });
    expect(await opened.run('small', 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('that do not exist are refused, and nothing runs', async () => {
    await using opened = new ProfiledApp(identity);
    await opened.app.client.initialize();
    for (const permissionProfile of [':none', 'unknown', '']) {
      const command = sh('touch ran');
      const [code] = await opened.app.client.refusal('command/exec', { command, permissionProfile });
      expect(code).toBe(-32600);
    }
    expect(existsSync(join(opened.place.workspace, 'ran'))).toBe(false);
  });
});
