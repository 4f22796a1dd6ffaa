import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import {
  ConfinedEnvironment,
  type Environment,
  type ExecProcess,
  type ProcessSpec,
} from '../../src/contract/index.js';
import { LocalEnvironment, openEnvironment } from '../../src/environment/index.js';
import { Toolbox } from '../../src/tools/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { Place } from '../host/sandbox/harness.js';
import { call } from '../mcp/call.js';

/** Not in a temporary directory: policies allow writing there. */
const PARENT = '/var/tmp';

const NOTHING = { type: 'restricted' as const, entries: [] };

/** A project, something outside of it, and a machine: this one, or the same behind a WebSocket. */
class Machine implements AsyncDisposable {
  readonly place = new Place({ name: 'current user' }, PARENT);
  readonly target: string;
  readonly #server: ServerProcess | undefined;

  private constructor(server: ServerProcess | undefined) {
    this.#server = server;
    this.target = server?.url ?? 'local';
  }

  static async open(kind: 'local' | 'remote'): Promise<Machine> {
    return new Machine(kind === 'remote' ? await ServerProcess.start() : undefined);
  }

  /** Writes to the project and beside it. */
  get script(): string {
    return `echo in > ${this.place.workspace}/in; echo out > ${this.place.outside}/out`;
  }

  get written(): { in: boolean; out: boolean } {
    return {
      in: existsSync(join(this.place.workspace, 'in')),
      out: existsSync(join(this.place.outside, 'out')),
    };
  }

  environment(policy: string): Promise<Environment> {
    return openEnvironment(this.target, { sandbox: { policy, workspace: this.place.workspace } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.place[Symbol.dispose]();
  }
}

describe.each(['local', 'remote'] as const)('a default policy, %s', (kind) => {
  test('confines processes and file operations that name no other', async () => {
    await using machine = await Machine.open(kind);
    await using environment = await machine.environment('workspace-write');
    await using child = await environment.start({ argv: ['sh', '-c', machine.script] });
    expect(await child.wait()).toMatchObject({ kind: 'exited', exitCode: 2 });
    expect(child.sandboxType).toBe('linuxSeccomp');
    expect(machine.written).toEqual({ in: true, out: false });
    await environment.files.writeFile(join(machine.place.workspace, 'file'), 'x');
    await expect(environment.files.writeFile(join(machine.place.outside, 'file'), 'x')).rejects.toThrow();
    await expect(environment.files.watchMissing(['/etc/shadow'])).rejects.toMatchObject({
      code: 'sandboxUnavailable',
    });
    expect(existsSync(join(machine.place.outside, 'file'))).toBe(false);
  });

  test('does not follow the directory a command chooses', async () => {
    await using machine = await Machine.open(kind);
    await using environment = await machine.environment('workspace-write');
    await using child = await environment.start({
      argv: ['sh', '-c', 'echo out > out'],
      cwd: machine.place.outside,
    });
    expect(await child.wait()).toMatchObject({ exitCode: 2 });
    expect(machine.written.out).toBe(false);
  });

  test('nor the variables it is given', async () => {
    await using machine = await Machine.open(kind);
    await using environment = await machine.environment('workspace-write');
    await using child = await environment.start({
      argv: ['sh', '-c', machine.script],
      env: { TMPDIR: machine.place.outside },
    });
    expect(await child.wait()).toMatchObject({ exitCode: 2 });
    expect(machine.written).toEqual({ in: true, out: false });
  });

  test('run and --sandbox: the program fails as it would by itself, and a line says why', async () => {
    await using machine = await Machine.open(kind);
    const { workspace, outside } = machine.place;
    const run = (...args: string[]) =>
      execwire(['run', '-e', machine.target, '--cwd', workspace, ...args, '--', 'sh', '-c', machine.script]);
    const denied = await run('--sandbox', 'workspace-write');
    expect(denied.code).toBe(2);
    expect(denied.stderr).toContain('--writable DIRECTORY and --network allow more');
    expect(machine.written).toEqual({ in: true, out: false });
    const allowed = await run('--sandbox', 'workspace-write', '--writable', outside);
    expect({ code: allowed.code, stderr: allowed.stderr }).toEqual({ code: 0, stderr: '' });
    expect(machine.written).toEqual({ in: true, out: true });
  });

  test('a model gets no more than the policy, and may ask for less', async () => {
    await using machine = await Machine.open(kind);
    await using environment = await machine.environment('workspace-write');
    await using toolbox = new Toolbox(environment);
    const { workspace } = machine.place;
    const cmd = `echo more >> ${workspace}/log`;
    const exec = async (args: object) =>
      (await toolbox.call('exec_command', { cmd, login: false, ...args })).structured;
    expect(await exec({})).toMatchObject({ exit_code: 0, sandbox_denied: false });
    const denied = await exec({ sandbox: 'read-only' });
    expect(denied).toMatchObject({ exit_code: 1, sandbox_denied: true });
    expect(denied['notes']).toContainEqual(expect.stringContaining('The sandbox policy probably denied'));
    expect(readFileSync(join(workspace, 'log'), 'utf8')).toBe('more\n');
    const wider = await toolbox.call('exec_command', { cmd, sandbox: 'danger-full-access' });
    expect(wider.isError).toBe(true);
    const file = await toolbox.call('write_file', { path: `${machine.place.outside}/x`, content: 'x' });
    expect(file.isError).toBe(true);
  });
});

test('a policy that the configuration does not know closes what was opened', async () => {
  await expect(openEnvironment('local', { sandbox: 'bogus' })).rejects.toMatchObject({
    code: 'invalidConfiguration',
  });
});

test('a machine that runs the program without the policy is not believed', async () => {
  /** A server that knows no policies ignores them. */
  class Ignorant extends LocalEnvironment {
    override start({ sandbox: _, ...spec }: ProcessSpec): Promise<ExecProcess> {
      return super.start(spec);
    }
  }
  const sandbox = { permissions: { type: 'managed', network: 'restricted', file_system: NOTHING } } as const;
  await using environment = new ConfinedEnvironment(new Ignorant(), sandbox);
  await expect(environment.start({ argv: ['sleep', '60'] })).rejects.toMatchObject({
    code: 'sandboxUnavailable',
  });
  expect((await environment.list()).filter(({ exited }) => !exited)).toEqual([]);
});

test('--writable and --network alone are a mistake, not a wish for no sandbox', async () => {
  const { code, stderr } = await execwire(['run', '--network', '--', 'true']);
  expect(code).toBe(2);
  expect(stderr).toBe('execwire: --network needs --sandbox POLICY or --hold.\n');
});

test('mcp --sandbox confines commands and files of the model', async () => {
  await using machine = await Machine.open('local');
  const { workspace, outside } = machine.place;
  mkdirSync(join(workspace, 'home'));
  writeFileSync(join(workspace, 'home', 'permissions.toml'), '');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--structured', '-e', 'local', '--sandbox', 'workspace-write'],
    cwd: workspace,
    env: { PATH: process.env.PATH ?? '', EXECWIRE_HOME: join(workspace, 'home') },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const ran = await call(client, 'exec_command', { cmd: machine.script, login: false });
  expect(ran.data).toMatchObject({ sandbox_denied: true });
  const file = await call(client, 'write_file', { path: join(outside, 'x'), content: 'x' });
  expect(file.isError).toBe(true);
  await client.close();
  expect(machine.written).toEqual({ in: true, out: false });
  expect(existsSync(join(outside, 'x'))).toBe(false);
});
