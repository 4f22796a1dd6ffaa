import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { Child, describeEnd, processEnds } from '../harness/child.js';
import { cleanEnv } from '../harness/clean-env.js';
import { leavePid, readPid } from '../harness/gate.js';
import { openRunDirectory, type RunDirectory } from '../harness/run-directory.js';
import { giveUpIfLate } from '../harness/wait-limit.js';
import { type McpClient, mcpClients } from './clients.js';
import { type Script, ScriptedModel } from './scripted-model.js';

const exec = (cmd: string, args: object = {}) => ({
  tool: 'exec_command',
  args: { cmd, yield_time_ms: 30_000, ...args },
});

/** The command that the guide tells to add, on the PATH as after an install. Records what passes between the two. */
async function installExecwire({ root, outside }: RunDirectory): Promise<string> {
  const path = join(root, 'execwire');
  const [input, output] = [join(outside, 'to-server'), join(outside, 'to-client')];
  const run = `"${process.execPath}" "${bin}" "$@"`;
  await writeFile(path, `#!/bin/sh\ntee -a ${input} | ${run} | tee -a ${output}\n`);
  await chmod(path, 0o755);
  return root;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly progressToken?: unknown;
    readonly _meta?: { readonly progressToken?: unknown };
  };
  readonly result?: { readonly tools?: readonly object[] };
}

/** The messages in one direction so far. */
async function messages({ outside }: RunDirectory, direction: 'to-server' | 'to-client'): Promise<Message[]> {
  const lines = (await readFile(join(outside, direction), 'utf8').catch(() => '')).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Message);
}

/** Waits until the client has the list of our tools. */
async function toolsListed(run: RunDirectory): Promise<void> {
  const since = performance.now();
  while (!(await messages(run, 'to-client')).some(({ result }) => result?.tools)) {
    giveUpIfLate(since, 'the list of tools');
    await delay(20);
  }
}

/** Begins when our tools are known, and with a call of the client's own where it would not look again otherwise. */
async function* onceConnected(client: McpClient, run: RunDirectory, script: Script): Script {
  await toolsListed(run);
  if (client.ownCall) yield { ...client.ownCall, own: true };
  return yield* script;
}

/** Adds the server as documented, and starts a conversation. */
async function converse(
  client: McpClient,
  script: Script,
  { run, url }: { run: RunDirectory; url: string },
): Promise<{ child: Child; model: ScriptedModel }> {
  const model = await ScriptedModel.open(client.dialect, onceConnected(client, run, script), client.nameOf);
  const path = `${await installExecwire(run)}:${process.env['PATH']}`;
  const settings = await client.prepare(run.clientHome, model.url);
  const env = { ...cleanEnv(run.clientHome), PATH: path, ...settings };
  const start = (args: readonly string[]): Child =>
    new Child({ argv: [...client.program, ...args], cwd: run.workspace, env });
  const adding = start(client.add(['execwire', 'mcp', '-e', url]));
  const added = await adding.ended;
  if (added.code !== 0) throw new Error(`${describeEnd(added)}: ${adding.stdout}${adding.stderr}`);
  return { child: start(client.run), model };
}

/** The text of one of our answers: some clients wrap it, none shows anything else. */
const answered = (output: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `^(<untrusted_context>\\n)?(Wall time: [\\d.]+ seconds\\nOutput:)?Wall time: [\\d.]+ seconds\\nProcess exited with code 0\\nOutput:\\n${output}`,
    ),
  );

describe.for(mcpClients.map((client) => [client.name, client] as const))('%s', ([, client]) => {
  test('adds the server by the documented line, calls, waits, survives a restart, and cancels', async () => {
    await using run = await openRunDirectory();
    let server = await ServerProcess.start();
    const { url } = server;
    const seen: string[] = [];
    async function* script(): Script {
      seen.push(yield exec('echo "from $0"', { login: false }));
      seen.push(yield exec('for i in 1 2 3 4; do echo line $i; sleep 0.5; done'));
      await server.stop('SIGKILL');
      server = await ServerProcess.start({ args: ['--listen', url] });
      seen.push(yield exec('echo after the restart'));
      yield exec(`${leavePid}; exec sleep 1000`, { workdir: run.workspace });
      return 'done';
    }
    const { child, model } = await converse(client, script(), { run, url });
    await using _model = model;
    await using _child = child;
    try {
      const pid = await readPid(run.workspace);
      const [early, calls] = await Promise.all([messages(run, 'to-client'), messages(run, 'to-server')]);
      // Whoever presses Ctrl-C in the client expects the command to end.
      await child.stop();
      await processEnds(pid);
      expect(seen).toEqual([
        answered('from /bin/bash\n'),
        answered('line 1\nline 2\nline 3\nline 4\n'),
        answered('after the restart\n'),
      ]);
      const long = calls.filter(({ method }) => method === 'tools/call')[1];
      const progress = early.filter(({ method }) => method === 'notifications/progress');
      expect(progress.map(({ params }) => params?.progressToken)).toContain(
        long?.params?._meta?.progressToken,
      );
    } catch (error) {
      const said = `${JSON.stringify(seen)}\n${child.stdout}${child.stderr}`;
      throw new Error(`${String(model.failure ?? error)}\n${said}`, { cause: error });
    } finally {
      await server.stop();
    }
  });
});
