// Needs: bwrap
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { TestFolder } from '../harness/processes.js';

/** One message per line, as a client sends them. */
function messages(...commands: string[]): string {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const calls = commands.map((cmd, index) => ({
    id: index + 1,
    method: 'tools/call',
    params: { name: 'exec_command', arguments: { cmd, login: false } },
  }));
  const all = [{ id: 0, method: 'initialize', params }, { method: 'notifications/initialized' }, ...calls];
  return all.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join('');
}

test('execwire mcp --hold keeps what the model changes, and says how to apply it', {
  timeout: 60_000,
}, async () => {
  using folder = new TestFolder();
  const workspace = folder.file('workspace');
  mkdirSync(workspace);
  const env = { ...process.env, XDG_STATE_HOME: folder.file('state') };
  const child = spawn(process.execPath, [bin, 'mcp', '--hold', '--changes', 'task', '--cwd', workspace], {
    env,
    cwd: workspace,
  });
  const stderr = text(child.stderr);
  let answers = '';
  child.stdin.write(messages('echo made > file; echo done'));
  for await (const data of child.stdout) {
    answers += String(data);
    if (answers.includes('"id":1')) break;
  }
  expect(answers).toContain('done');
  child.stdin.end();
  await once(child, 'close');
  expect(await stderr).toBe(
    'execwire mcp: changes are held; show them with: execwire changes diff task\n' +
      'execwire: 1 created: execwire changes diff task\n',
  );
  expect(existsSync(`${workspace}/file`)).toBe(false);
  expect((await execwire(['changes', 'apply', 'task'], { env })).stdout).toBe('1 created\n');
  expect(readFileSync(`${workspace}/file`, 'utf8')).toBe('made\n');
});
