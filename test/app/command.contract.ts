import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { base64, exec } from '../../testkit/app-client.mjs';
import type { OpenApp } from '../../testkit/app-server.mjs';
import { makeLastingFolder } from '../../testkit/lasting-folder.mjs';
import { TestFolder } from '../harness/processes.js';

/** `command/exec`: what it refuses, and what a command finds around it. */
export function commandContract(name: string, open: OpenApp): void {
  describe(`${name}: command/exec`, () => {
    test('output comes with the result by default, by stream', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      expect(await exec(client, 'echo out; echo err >&2; exit 3')).toEqual({
        exitCode: 3,
        stdout: 'out\n',
        stderr: 'err\n',
      });
      expect(client.notifications('command/exec/outputDelta')).toEqual([]);
      expect(await exec(client, 'cat', { processId: '' })).toMatchObject({ exitCode: 0, stdout: '' });
    });

    test('requests that make no sense are refused with the codes and in the order clients know', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const size = { rows: 10, cols: 10 };
      const nothing = { rows: 0, cols: 10 };
      const full = { type: 'dangerFullAccess' };
      const rows: [object, number, string][] = [
        [{ command: [] }, -32600, 'command must not be empty'],
        [
          { command: [], size, outputBytesCap: 1, disableOutputCap: true },
          -32600,
          'command must not be empty',
        ],
        [
          { permissionProfile: ':x', sandboxPolicy: full, size },
          -32600,
          '`permissionProfile` cannot be combined with `sandboxPolicy`',
        ],
        [{ size, outputBytesCap: 1, disableOutputCap: true }, -32602, 'command/exec size requires tty: true'],
        [
          { outputBytesCap: 1, disableOutputCap: true, timeoutMs: -1, disableTimeout: true },
          -32602,
          'command/exec cannot set both outputBytesCap and disableOutputCap',
        ],
        [
          { timeoutMs: -1, disableTimeout: true },
          -32602,
          'command/exec cannot set both timeoutMs and disableTimeout',
        ],
        [
          { timeoutMs: -1, permissionProfile: ':x' },
          -32602,
          'command/exec timeoutMs must be non-negative, got -1',
        ],
        [
          { permissionProfile: ':x', tty: true, size: nothing },
          -32600,
          'invalid permission profile: There is no permission profile :x.',
        ],
        [{ tty: true, size: nothing }, -32602, 'command/exec size rows and cols must be greater than 0'],
        ...[{ tty: true }, { streamStdin: true }, { streamStdoutStderr: true }].map(
          (flag): [object, number, string] => [
            flag,
            -32600,
            'command/exec tty or streaming requires a client-supplied processId',
          ],
        ),
      ];
      for (const [params, code, text] of rows) {
        expect(await client.refusal('command/exec', { command: ['true'], ...params })).toEqual([code, text]);
      }
    });

    test('what does not decode is an invalid request', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const broken = [
        { tty: null },
        { tty: true, processId: 'x', size: { rows: 65_536, cols: 1 } },
        { tty: true, processId: 'x', size: { rows: -1, cols: 1 } },
        { tty: true, processId: 'x', size: { rows: 1.5, cols: 1 } },
        { tty: true, processId: 'x', size: { rows: 1 } },
        { timeoutMs: 1.5 },
        { timeoutMs: '1' },
        { outputBytesCap: -1 },
        { env: { A: 1 } },
        { command: 'true' },
        { command: [1] },
        { sandboxPolicy: 'readOnly' },
        { sandboxPolicy: { type: 'bogus' } },
        { sandboxPolicy: { type: 'externalSandbox', networkAccess: true } },
        { sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['relative'] } },
      ];
      for (const params of [...broken.map((each) => ({ command: ['true'], ...each })), [], null, 'x']) {
        const [code, text] = await client.refusal('command/exec', params);
        expect([params, code, text.slice(0, 17)]).toEqual([params, -32600, 'Invalid request: ']);
      }
    });

    test('a start that fails says so and frees the id', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const failing = [
        { command: ['/no/such/program'] },
        { command: [''] },
        { command: ['a\0b'] },
        { command: [folder.path] },
        { command: ['true'], cwd: folder.file('missing') },
        { command: ['true'], cwd: folder.file('missing'), tty: true },
        { command: ['true'], cwd: '/dev/null' },
      ];
      for (const params of failing) {
        const [code, text] = await client.refusal('command/exec', { processId: 'x', ...params });
        expect([code, text.slice(0, 24)]).toEqual([-32603, 'failed to spawn command:']);
      }
      expect(await exec(client, 'exit 0', { processId: 'x' })).toMatchObject({ exitCode: 0 });
    });

    test('policies and profiles that leave everything open', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const unconfined = [
        { sandboxPolicy: { type: 'dangerFullAccess' } },
        { sandboxPolicy: { type: 'externalSandbox', networkAccess: 'enabled' } },
        { permissionProfile: ':danger-full-access' },
        { sandboxPolicy: null, permissionProfile: null },
      ];
      for (const policy of unconfined)
        expect(await exec(client, 'echo ok', policy)).toMatchObject({ stdout: 'ok\n' });
      expect(
        await client.refusal('command/exec', { command: ['true'], permissionProfile: ':nonsense' }),
      ).toEqual([-32600, expect.stringMatching(/^invalid permission profile: /)]);
    });

    test('policies and profiles that confine', async () => {
      using folder = new TestFolder();
      const base = makeLastingFolder('app');
      const [work, other] = [join(base, 'work'), join(base, 'other')];
      for (const each of [work, other]) mkdirSync(each);
      await using app = await open({ cwd: work });
      const client = await app.client.initialize();
      const script = `for d in ${work} ${other} ${folder.path}; do (echo x > $d/f) 2>/dev/null && echo yes || echo no; done`;
      const cases: [object, string][] = [
        [{ sandboxPolicy: { type: 'readOnly' } }, 'no no no'],
        [{ permissionProfile: ':read-only' }, 'no no no'],
        [{ sandboxPolicy: { type: 'workspaceWrite' } }, 'yes no yes'],
        [{ sandboxPolicy: { type: 'workspaceWrite' }, cwd: other }, 'yes no yes'],
        [{ permissionProfile: ':workspace', cwd: other }, 'no yes yes'],
        [{ sandboxPolicy: { type: 'workspaceWrite', writableRoots: [other] } }, 'yes yes yes'],
        [
          { sandboxPolicy: { type: 'workspaceWrite', excludeSlashTmp: true, excludeTmpdirEnvVar: true } },
          'yes no no',
        ],
      ];
      for (const [policy, expected] of cases) {
        const { stdout } = await exec(client, script, policy);
        expect({ policy, written: stdout.trim().replaceAll('\n', ' ') }).toEqual({
          policy,
          written: expected,
        });
      }
      const missing = await client.refusal('command/exec', {
        command: ['no-such-program'],
        sandboxPolicy: { type: 'readOnly' },
      });
      expect(missing).toEqual([-32603, expect.stringMatching(/^failed to spawn command: /)]);
      rmSync(base, { recursive: true, force: true });
    });

    test('one variable is always set for commands', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const name = 'CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS';
      expect(await exec(client, `printenv ${name}`)).toMatchObject({ stdout: '1\n' });
      expect(await exec(client, `printenv ${name}`, { env: { [name]: null } })).toMatchObject({
        stdout: '1\n',
      });
    });

    test('the environment is inherited, overridden and unset by exact name; directories resolve', async () => {
      using folder = new TestFolder();
      const cwd = realpathSync(folder.path);
      await using app = await open({
        cwd,
        env: { ODD: 'a', odd: 'b', NODE_REPL_AUTH_TOKEN: 'secret' },
      });
      const client = await app.client.initialize();
      const env = { ODD: null, NEW: 'n', NODE_REPL_AUTH_TOKEN: 'again' };
      const script =
        'echo $(printenv ODD || echo unset) $odd $NEW $(printenv NODE_REPL_AUTH_TOKEN || echo unset)';
      expect(await exec(client, script, { env })).toMatchObject({ stdout: 'unset b n unset\n' });
      await client.call('fs/createDirectory', { path: `${cwd}/sub` });
      for (const [given, seen] of [
        [null, cwd],
        ['sub', `${cwd}/sub`],
        [`${cwd}/sub/../sub/.`, `${cwd}/sub`],
      ]) {
        expect(await exec(client, 'pwd -P', { cwd: given })).toMatchObject({ stdout: `${seen}\n` });
      }
    });

    test('programs are looked up in the path of the child, relative ones from its directory', async () => {
      using folder = new TestFolder();
      await using app = await open();
      const client = await app.client.initialize();
      const text = base64('#!/bin/sh\necho mine\n');
      await client.call('fs/writeFile', { path: folder.file('own'), dataBase64: text });
      await exec(client, `chmod +x ${folder.file('own')}`);
      const found = { exitCode: 0, stdout: 'mine\n', stderr: '' };
      const byPath = { command: ['own'], env: { PATH: `${folder.path}:/usr/bin:/bin` } };
      expect(await client.call('command/exec', byPath)).toEqual(found);
      expect(await client.call('command/exec', { command: ['./own'], cwd: folder.path })).toEqual(found);
    });

    test('every child leads a session of its own', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const { stdout } = await exec(client, 'cat /proc/$$/stat');
      // pid, (name), state, parent, group, session, terminal, …
      const [pid, , , , group, session, terminal] = stdout.split(' ');
      expect([group, session, terminal]).toEqual([pid, pid, '0']);
    });
  });
}
