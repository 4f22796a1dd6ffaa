import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bin } from '../../testkit/launch.mjs';
import { Child, describeEnd } from '../harness/child.js';
import { cleanEnv } from '../harness/clean-env.js';
import type { RunDirectory } from '../harness/run-directory.js';
import { giveUpIfLate } from '../harness/wait-limit.js';
import type { McpClient } from './clients.js';
import { type Script, ScriptedModel } from './scripted-model.js';

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
export async function messages(
  { outside }: RunDirectory,
  direction: 'to-server' | 'to-client',
): Promise<Message[]> {
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
export async function converse(
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
