import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { readSchema } from '../harness/schema-file.js';

const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

const PROGRAM = `
import type { ClientRequest, ProcessStartParams, Sandbox, ServerNotification } from './messages.js';

const params: ProcessStartParams = {
  processId: 'p', argv: ['true'], cwd: 'file:///', env: { A: 'b' }, tty: false, size: { rows: 1, cols: 2 },
};
export const sandbox: Sandbox = { permissions: { type: 'disabled' } };
export const request: ClientRequest = { id: 1, method: 'process/start', params: { ...params, sandbox } };

export function outputOf(message: ServerNotification): string {
  return message.method === 'process/output' ? message.params.chunk : '';
}

// @ts-expect-error: not a list
export const one: ProcessStartParams['argv'] = 'true';
// @ts-expect-error: no such method
export const two: ClientRequest = { id: 1, method: 'process/begin', params };
// @ts-expect-error: a member is missing
export const three: ClientRequest = { id: 1, method: 'process/start', params: { argv: ['true'] } };
// @ts-expect-error: no such kind of permissions
export const four: Sandbox = { permissions: { type: 'maybe' } };

export function nothing(message: ServerNotification): unknown {
  // @ts-expect-error: no such member
  return message.method === 'process/output' ? message.params.chunks : '';
}
`;

test('a generator makes types of the schema that tell right from wrong', async () => {
  using folder = new TestFolder();
  const source = readSchema('exec-server') as unknown as JSONSchema;
  const types = await compile(source, 'Message', {
    additionalProperties: false,
    unreachableDefinitions: true,
  });
  writeFileSync(join(folder.path, 'messages.d.ts'), types);
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder.path, 'program.ts'), PROGRAM);
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const { stdout, status } = spawnSync(tsc, [...options, 'program.ts'], {
    encoding: 'utf8',
    cwd: folder.path,
    timeout: 25_000,
  });
  // A line that should be wrong and is not counts as an error, too.
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
});
