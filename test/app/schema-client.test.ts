import { expect, test } from 'vitest';
import { openInProcess } from '../harness/app-in-process.js';
import { TestFolder } from '../harness/processes.js';
import { type JsonSchema, sampleOf, violations } from '../harness/json-schema.js';
import { methodsIn } from '../harness/schema-file.js';

/** All a client author gets: the generated file. */
const schema = methodsIn<JsonSchema>('app-server');

/** Fields a generated sample cannot guess; everything else comes out of the schema. */
function wanted(folder: TestFolder): Record<string, Record<string, unknown>> {
  const path = folder.file('a');
  return {
    'command/exec': { command: ['cat'], processId: 'c', streamStdin: true, streamStdoutStderr: true },
    'command/exec/write': { processId: 'c', deltaBase64: 'aGk=', closeStdin: true },
    'process/spawn': { command: ['cat'], processHandle: 'p', cwd: '/', tty: true },
    'process/writeStdin': { processHandle: 'p', deltaBase64: 'aGkK' },
    'process/resizePty': { processHandle: 'p', size: { rows: 9, cols: 9 } },
    'process/kill': { processHandle: 'p' },
    'fs/watch': { watchId: 'w', path: folder.path },
    'fs/unwatch': { watchId: 'w' },
    'fs/writeFile': { path, dataBase64: 'aGk=' },
    'fs/readFile': { path },
    'fs/getMetadata': { path },
    'fs/copy': { sourcePath: path, destinationPath: folder.file('b') },
    'fs/createDirectory': { path: folder.file('dir') },
    'fs/readDirectory': { path: folder.path },
    'fs/remove': { path: folder.file('dir') },
    'environment/add': { environmentId: 'box', execServerUrl: 'ws://127.0.0.1:1' },
    'environment/info': { environmentId: 'local' },
    'environment/status': { environmentId: 'local' },
  };
}

test('a client that knows only the schema gets what the schema says, from every method', async () => {
  await using app = openInProcess();
  using folder = new TestFolder();
  const { client } = app;
  const fields = wanted(folder);
  const ask = async (method: string): Promise<void> => {
    const { params, result } = schema.requests[method] ?? { params: {}, result: {} };
    const request = { ...(sampleOf(params) as object), ...fields[method] };
    expect([method, violations(params, request)]).toEqual([method, []]);
    const answer = await client.ask(method, request);
    expect([method, answer.error, violations(result, answer.result)]).toEqual([method, undefined, []]);
  };
  const capabilities = { experimentalApi: true };
  await client.call('initialize', {
    ...(sampleOf(schema.requests.initialize?.params ?? {}) as object),
    capabilities,
  });
  const command = ask('command/exec');
  await ask('command/exec/write');
  await command;
  for (const method of ['process/spawn', 'fs/watch', 'process/resizePty', 'process/writeStdin'])
    await ask(method);
  await client.shows('p', 'hi\r\nhi\r\n');
  await ask('process/kill');
  await client.exited('p');
  for (const method of [
    'writeFile',
    'readFile',
    'getMetadata',
    'copy',
    'createDirectory',
    'readDirectory',
    'remove',
  ])
    await ask(`fs/${method}`);
  await client.wire.until(() => client.notifications('fs/changed').length > 0);
  for (const method of ['fs/unwatch', 'environment/add', 'environment/info', 'environment/status'])
    await ask(method);

  const seen = new Set<string>();
  for (const each of client.wire.arrivals) {
    if (!('method' in each)) continue;
    seen.add(each.method);
    expect(violations(schema.serverNotifications[each.method]?.params ?? { not: {} }, each.params)).toEqual(
      [],
    );
  }
  // Holding changes takes a policy, which this server has none of; see changes.test.ts.
  seen.add('changes/updated');
  expect(seen).toEqual(new Set(Object.keys(schema.serverNotifications)));
});

/** Objects whose members say it all. */
const DOCUMENTED_BY_MEMBERS = ['clientInfo', 'capabilities', 'size'];

test('every method, notification and member is described', () => {
  const undocumented: string[] = [];
  for (const [name, method] of Object.entries({ ...schema.requests, ...schema.serverNotifications })) {
    if (!method.description.endsWith('.')) undocumented.push(name);
    for (const [field, { description }] of Object.entries(method.params.properties ?? {})) {
      if (!description && !DOCUMENTED_BY_MEMBERS.includes(field)) undocumented.push(`${name}: ${field}`);
    }
  }
  expect(undocumented).toEqual([]);
});
