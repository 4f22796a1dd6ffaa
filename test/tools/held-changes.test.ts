// Needs: bwrap
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resultText } from '../../src/tools/index.js';
import { holdingPolicy, Scene } from '../host/changes/harness.js';
import { TestTools } from './harness.js';

test('commands and file tools build on each other, and the user applies the result', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('old'), 'before\n');
  const { changes: _, changesId: __, ...sandbox } = holdingPolicy([scene.workspace], '');
  const options = { sandbox, changes: 'hold', cwd: scene.workspace } as const;
  await using tools = new TestTools(options, scene.environment);
  const { changesId = '' } = tools.box;
  const held = async (args = {}): Promise<string> => resultText(await tools.call('held_changes', args));

  expect(await held()).toBe('0 created, 0 modified, 0 deleted\n');
  // Nothing is held yet that a command without rights to write could see.
  expect((await tools.exec('cat old', { sandbox: 'read-only' })).output).toBe('before\n');
  await tools.exec('echo after > old; echo one > made');
  await tools.report('write_file', { path: 'written', content: 'by a tool\n' });
  expect((await tools.exec('cat old made written')).output).toBe('after\none\nby a tool\n');
  expect((await tools.exec('cat old; echo x > made', { sandbox: 'read-only' })).output).toContain('after\n');
  expect(resultText(await tools.call('read_file', { path: 'made' }))).toContain('one');

  expect(await held()).toBe(
    `2 created, 1 modified, 0 deleted\nA ${scene.file('made')}\nM ${scene.file('old')}\nA ${scene.file('written')}\n`,
  );
  expect(await held({ diff: true, path: 'old' })).toContain('-before\n+after\n');
  expect(await held({ diff: true, path: 'old' })).not.toContain('by a tool');
  expect(existsSync(scene.file('made'))).toBe(false);
  expect(readFileSync(scene.file('old'), 'utf8')).toBe('before\n');

  const { applied } = await scene.environment.changes(changesId).apply();
  expect(applied).toEqual({ created: 2, modified: 1, deleted: 0 });
  expect(readFileSync(scene.file('written'), 'utf8')).toBe('by a tool\n');
});

test('a toolbox that holds nothing does not offer to show it, and holding needs a policy', async () => {
  await using tools = new TestTools();
  expect(tools.box.changesId).toBeUndefined();
  expect(tools.box.tools.map(({ name }) => name)).not.toContain('held_changes');
  expect(() => new TestTools({ changes: 'hold' })).toThrow('only under a policy');
});
