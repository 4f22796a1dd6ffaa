import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { Toolbox } from '../../src/tools/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { ScriptedServer } from '../harness/scripted-server.js';
import { InstalledCopy } from '../harness/installed-copy.js';
import { limitsContract } from './limits.contract.js';

limitsContract('local', async () => new LocalEnvironment());

const connect = ({ url }: ServerProcess) =>
  RemoteEnvironment.connect({ id: 'limits', dial: () => dialWebSocket(url), resume: true });

describe('a server of a plain user', () => {
  // Only root can become somebody else; everybody else is a plain user already.
  const isRoot = process.getuid?.() === 0;
  const id = 54_322;
  const copy = new InstalledCopy();
  const home = mkdtempSync(join(tmpdir(), 'execwire-limits-'));
  let server: ServerProcess;
  beforeAll(async () => {
    if (isRoot) chownSync(home, id, id);
    const wrapper = isRoot ? ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups'] : [];
    server = await ServerProcess.start({ wrapper, program: copy.bin, env: { HOME: home }, cwd: home });
  });
  afterAll(async () => {
    await server.stop();
    copy[Symbol.dispose]();
    rmSync(home, { recursive: true, force: true });
  });
  limitsContract('plain user', () => connect(server));
});

describe('without koffi', () => {
  const blocker = fileURLToPath(new URL('../fixtures/without-koffi.cjs', import.meta.url));
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ env: { NODE_OPTIONS: `--require=${blocker}` } });
  });
  afterAll(() => server.stop());
  limitsContract('without koffi', () => connect(server), { terminals: false, sandboxes: false });
});

test('`execwire run` takes them as flags', async () => {
  const flags = ['--memory', '64M', '--cpu', '90s', '--nofile', '33'];
  const { stdout, code } = await execwire([
    'run',
    ...flags,
    '--',
    'sh',
    '-c',
    'ulimit -n; ulimit -d; ulimit -t',
  ]);
  expect([code, stdout]).toEqual([0, `33\n${64 * 1024}\n90\n`]);
  const wrong = await execwire(['run', '--memory', 'much', '--', 'true']);
  expect(wrong.stderr).toContain('Use a size such as 512M or 2G.');
});

test('a toolbox gives them to every command', async () => {
  await using environment = new LocalEnvironment();
  await using toolbox = new Toolbox(environment, { limits: { openFiles: 44 } });
  expect((await toolbox.call('exec_command', { cmd: 'ulimit -n', login: false })).text).toMatch(/^44$/m);
});

test('a server that does not know them is not asked to run without', async () => {
  const server = new ScriptedServer();
  await using environment = await RemoteEnvironment.connect({ id: 'old', dial: server.dial, resume: false });
  const started = environment.start({ argv: ['true'], limits: { openFiles: 44 } });
  await expect(started).rejects.toMatchObject({ code: 'limitsUnavailable' });
  expect(server.heard.map(([method]) => method)).not.toContain('process/start');
});
