import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  EnvironmentManager,
  isExecError,
  loadEnvironments,
  openChosen,
  openEnvironment,
} from '../../src/index.js';
import { TestFolder } from '../harness/processes.js';
import { serve } from '../harness/serve.js';

async function greet(target: string | undefined, variables: NodeJS.ProcessEnv): Promise<string> {
  await using environment = await openEnvironment(target, { variables });
  await using child = await environment.start({ argv: ['echo', environment.id] });
  return await child.text();
}

async function failure(target: string | undefined, variables: NodeJS.ProcessEnv): Promise<string> {
  const error: unknown = await openEnvironment(target, { variables }).catch((reason: unknown) => reason);
  return isExecError(error) ? error.code : 'no error of ours';
}

describe('openEnvironment', () => {
  test('a sandbox without a policy is refused, and not left out', async () => {
    for (const sandbox of [{}, { name: 'read-only' }, 5]) {
      const opening = openEnvironment('local', { sandbox: sandbox as unknown as string });
      await expect(opening).rejects.toMatchObject({ code: 'invalidConfiguration' });
    }
  });

  test('takes this machine, a URL, a configured id, or the default', async () => {
    await using server = await serve();
    using folder = new TestFolder();
    const bare = { EXECWIRE_HOME: folder.path };
    expect(await greet('local', bare)).toBe('local\n');
    expect(await greet(undefined, bare)).toBe('local\n');
    expect(await greet(server.url, bare)).toBe('remote\n');
    expect(await greet(undefined, { ...bare, EXECWIRE_SERVER_URL: server.url })).toBe('remote\n');
    writeFileSync(
      folder.file('environments.toml'),
      `default = "box"\n[[environments]]\nid = "box"\nurl = "${server.url}"\n`,
    );
    expect(await greet('box', bare)).toBe('box\n');
    expect(await greet(undefined, bare)).toBe('box\n');
    await using manager = new EnvironmentManager(loadEnvironments(bare), { open: openChosen });
    expect((await manager.get()).id).toBe('box');
    expect(manager.status('box')).toEqual({ status: 'ready' });
  });

  test('never puts another machine in place of one that is not there', async () => {
    using folder = new TestFolder();
    const bare = { EXECWIRE_HOME: folder.path };
    expect(await failure('nowhere', bare)).toBe('environmentNotFound');
    expect(await failure('none', bare)).toBe('environmentNotFound');
    expect(await failure('ws://127.0.0.1:1', bare)).toBe('notConnected');
    expect(await failure(undefined, { ...bare, EXECWIRE_SERVER_URL: 'none' })).toBe('environmentNotFound');
    expect(await failure(undefined, { ...bare, EXECWIRE_SERVER_URL: 'box' })).toBe('invalidConfiguration');
  });
});
