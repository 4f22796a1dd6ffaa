// Needs: bwrap
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StdioApp } from '../../testkit/app-server.mjs';
import { TestFolder } from '../harness/processes.js';

/** An app server in a workspace, with a place of its own for held changes. */
class HoldingApp implements AsyncDisposable {
  readonly #folder = new TestFolder();
  readonly workspace = this.#folder.file('workspace');
  readonly app: StdioApp;

  constructor() {
    mkdirSync(this.workspace);
    const env = { XDG_STATE_HOME: this.#folder.file('state'), TMPDIR: '' };
    this.app = new StdioApp({ cwd: this.workspace, env });
  }

  get sets(): string[] {
    return readdirSync(this.#folder.file('state/execwire/changes'));
  }

  exec(script: string, more: object = { changes: 'hold', changesId: 'task' }): object {
    const sandboxPolicy = { type: 'workspaceWrite', excludeSlashTmp: true, excludeTmpdirEnvVar: true };
    return { command: ['/bin/sh', '-c', script], sandboxPolicy, ...more };
  }

  file(name: string): string {
    return `${this.workspace}/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

test('commands of an app server hold what they change until it is applied', { timeout: 30_000 }, async () => {
  await using holding = new HoldingApp();
  writeFileSync(holding.file('old'), 'before\n');
  const client = await holding.app.client.initialize();
  const changesId = 'task';
  const made = await client.call('command/exec', holding.exec('echo after > old; echo new > made'));
  expect(made).toEqual({ exitCode: 0, stdout: '', stderr: '', changesId });
  expect(await client.call('command/exec', holding.exec('cat old made'))).toMatchObject({
    stdout: 'after\nnew\n',
  });
  expect(readFileSync(holding.file('old'), 'utf8')).toBe('before\n');
  expect(await client.call('changes/sets', {})).toMatchObject({
    sets: [{ changesId, lease: 'session', roots: [holding.workspace], running: 0 }],
  });
  const page = await client.call('changes/list', { changesId, glob: 'm*' });
  const created = { kind: 'created', type: 'file', size: 4, baseSize: null, conflict: false };
  expect(page).toEqual({
    changes: [{ path: holding.file('made'), ...created }],
    counts: { created: 1, modified: 0, deleted: 0 },
    cursor: null,
  });
  const old = { changesId, path: holding.file('sub/../old') };
  const read = { dataBase64: Buffer.from('after\n').toString('base64'), size: 6, eof: true };
  expect(await client.call('changes/read', { ...old, side: 'held' })).toEqual(read);
  const { diffs } = await client.call('changes/diff', { changesId, paths: [holding.file('old')] });
  expect(diffs).toMatchObject([{ path: holding.file('old'), kind: 'modified', omitted: null }]);
  await expect
    .poll(() => client.notifications('changes/updated').at(0))
    .toMatchObject({ params: { changesId, environmentId: null } });
  const applied = await client.call('changes/apply', { changesId });
  expect(applied).toEqual({ applied: { created: 1, modified: 1, deleted: 0 }, conflicts: [] });
  expect(readFileSync(holding.file('old'), 'utf8')).toBe('after\n');
  expect(await client.call('changes/discard', { changesId })).toEqual({});
  expect(holding.sets).toEqual([]);
  expect((await client.refusal('changes/list', { changesId }))[1]).toContain('no held changes');
});

test('files are read and written as a set has them, under the policy of its commands', async () => {
  await using holding = new HoldingApp();
  writeFileSync(holding.file('old'), 'before\n');
  const client = await holding.app.client.initialize();
  const { changesId } = await client.call(
    'command/exec',
    holding.exec('echo after > old; mkdir made', { changes: 'hold' }),
  );
  const encoded = (text: string) => ({ dataBase64: Buffer.from(text).toString('base64') });
  const old = { path: holding.file('old') };
  expect(await client.call('fs/readFile', old)).toEqual(encoded('before\n'));
  expect(await client.call('fs/readFile', { ...old, changesId })).toEqual(encoded('after\n'));
  const written = { path: holding.file('made/file'), changesId };
  await client.call('fs/writeFile', { ...written, ...encoded('written\n') });
  await client.call('fs/createDirectory', { path: holding.file('made/deep/er'), changesId });
  const copy = { sourcePath: written.path, destinationPath: holding.file('made/deep/copy') };
  await client.call('fs/copy', { ...copy, changesId });
  await client.call('fs/remove', { ...old, changesId });
  const listed = { path: holding.file('made/deep'), changesId };
  const { entries } = (await client.call('fs/readDirectory', listed)) as { entries: { fileName: string }[] };
  expect(entries.map(({ fileName }) => fileName).toSorted()).toEqual(['copy', 'er']);
  expect(await client.call('fs/getMetadata', written)).toMatchObject({ isFile: true });
  expect((await client.refusal('fs/getMetadata', { path: written.path }))[0]).not.toBe(0);
  const beyond = { path: `${holding.workspace}-beyond`, changesId, ...encoded('') };
  expect((await client.refusal('fs/writeFile', beyond))[1]).toMatch(/permission|read-only|denied/i);
  expect(readdirSync(holding.workspace)).toEqual(['old']);
  await client.call('changes/apply', { changesId });
  expect(readFileSync(holding.file('made/deep/copy'), 'utf8')).toBe('written\n');
  expect(readdirSync(holding.workspace)).toEqual(['made']);
  const unknown = { ...old, changesId: 'unknown' };
  expect((await client.refusal('fs/readFile', unknown))[1]).toContain('No command of this connection');
});

test('held changes are experimental, need a policy, and end with their connection', async () => {
  await using holding = new HoldingApp();
  const client = await holding.app.client.initialize();
  const bare = { ...holding.exec('true'), sandboxPolicy: { type: 'dangerFullAccess' } };
  expect((await client.refusal('command/exec', bare))[0]).not.toBe(0);
  expect(await client.refusal('command/exec', holding.exec('true', { changesId: 'task' }))).toEqual([
    -32602,
    'command/exec changesId and changesLease require changes',
  ]);
  await client.call('command/exec', holding.exec('echo 1 > one'));
  await client.call('command/exec', {
    ...holding.exec('echo 2 > two', { changes: 'hold', changesId: 'kept', changesLease: 'kept' }),
  });
  expect(holding.sets).toHaveLength(2);
  holding.app.hangUp();
  await holding.app.exit;
  expect(holding.sets.map((name) => name.slice(name.indexOf('-') + 1))).toEqual(['kept']);
});

test('a client without the experimental API is refused', async () => {
  await using holding = new HoldingApp();
  const client = await holding.app.client.initialize({ experimentalApi: false });
  for (const [method, params] of [
    ['command/exec', holding.exec('true')],
    ['changes/sets', {}],
    ['changes/apply', { changesId: 'task' }],
    ['fs/readFile', { path: '/etc/hostname', changesId: 'task' }],
  ] as const)
    expect((await client.refusal(method, params))[1]).toMatch(/requires experimentalApi capability$/);
});
