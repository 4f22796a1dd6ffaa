import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dialWire, outputOf, type WireClient } from '../../testkit/wire-client.mjs';
import { type ServerKind, startServer } from '../harness/exec-server.js';
import { openRunDirectory, type RunDirectory } from '../harness/run-directory.js';

/** One thing to do with an exec server. What it returns must be the same on both. */
export interface ExecCase {
  readonly name: string;
  readonly play: (bench: ExecBench) => Promise<unknown>;
}

export const uri = (path: string): string => pathToFileURL(path).href;

/** A server of one kind with a connection, folders, and the means to ask. Answers come in a form that can be compared. */
export class ExecBench implements AsyncDisposable {
  readonly run: RunDirectory;
  readonly client: WireClient;
  readonly #end: () => Promise<void>;
  #count = 0;

  private constructor(run: RunDirectory, client: WireClient, end: () => Promise<void>) {
    this.run = run;
    this.client = client;
    this.#end = end;
  }

  static async open(kind: ServerKind): Promise<ExecBench> {
    const run = await openRunDirectory();
    await plantCapabilities(run.serverHome);
    const server = await startServer(kind, run);
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    return new ExecBench(run, client, async () => {
      socket.terminate();
      await server[Symbol.asyncDispose]();
      await run[Symbol.asyncDispose]();
    });
  }

  async plant(path: string, text: string): Promise<void> {
    await plant(join(this.run.root, path), text);
  }

  /** The result, or the code of the error: words are everybody's own. */
  async ask(method: string, params: unknown): Promise<unknown> {
    const { result, error } = await this.client.ask(method, params);
    const text = JSON.stringify(error ? { code: error.code } : result);
    return JSON.parse(text.replaceAll(this.run.root, '~')) as unknown;
  }

  /** Starts a program and tells what became of it, or the code of the refusal. */
  async start(argv: readonly string[], more: object = {}): Promise<unknown> {
    this.#count += 1;
    const processId = `case${this.#count}`;
    const env = { PATH: '/usr/bin:/bin', HOME: this.run.serverHome };
    const params = { processId, argv, cwd: uri(this.run.workspace), env, tty: false, ...more };
    const { result, error } = await this.client.ask('process/start', params);
    if (error) return { code: error.code };
    const events = await this.client.closedEvents(processId);
    const exit = events.find(({ method }) => method === 'process/exited')?.params;
    const stdout = outputOf(events.filter(({ params: { stream } }) => stream !== 'stderr')).toString();
    return {
      sandboxType: result?.['sandboxType'],
      exitCode: exit?.['exitCode'],
      stdout: stdout.replaceAll(this.run.root, '~'),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

/** The real server looks for plugins and skills when it starts, and remembers. */
async function plantCapabilities(home: string): Promise<void> {
  const plugin = join(home, 'plugins/cache/market/plug/1.0.0');
  await plant(join(plugin, '.codex-plugin/plugin.json'), '{"name":"plug"}');
  await plant(join(plugin, 'skills/s/SKILL.md'), '---\nname: s\ndescription: D\n---\n');
  await plant(join(home, 'skills/a/SKILL.md'), '---\nname: a\ndescription: Use when: asked\n---\n');
  await plant(join(home, '.agents/skills/b/SKILL.md'), '---\ndescription: 42\n---\n');
}

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
