import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { dialWire, lineWire, startParams, WireClient } from '../../testkit/wire-client.mjs';

const preload = fileURLToPath(new URL('preload/failing-callback.mjs', import.meta.url));
/** Mistakes made at each signal. */
const MISTAKES = 8;
/** Lines about them in a while, whatever happens. */
const MAX_LINES = 20;

class BadServer {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #watchers = new Set<() => void>();
  readonly #over: Promise<unknown>;
  stderr = '';
  /** Everything it ever said. */
  log = '';

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [bin, ...args], {
      env: { ...process.env, NODE_OPTIONS: `--import=${preload}`, EXECWIRE_HOME: '/nonexistent' },
    });
    this.#over = once(this.child, 'exit');
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.on('data', (data: Buffer) => {
      this.stderr += data.toString();
      this.log += data.toString();
      for (const look of [...this.#watchers]) look();
    });
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  async firstLines(count: number): Promise<string[]> {
    const lines: string[] = [];
    const reader = createInterface({ input: this.child.stdout }).on('line', (line) => lines.push(line));
    while (lines.length < count) await once(reader, 'line');
    return lines;
  }

  /** Makes every mistake, and resolves when the server has lived through them, or not. */
  async makeMistakes(): Promise<void> {
    this.stderr = '';
    const seen = new Promise<void>((resolve) => {
      this.#watchers.add(() => {
        if (this.stderr.includes('all of it failed')) resolve();
      });
    });
    this.child.kill('SIGUSR2');
    await Promise.race([seen, this.#over]);
    expect({ code: this.child.exitCode, stderr: this.stderr }).toMatchObject({ code: null });
  }

  expectHarmless(): void {
    const lines = this.stderr
      .split('\n')
      .filter((line) => line.includes('internal error; the server continues'));
    expect(lines).toHaveLength(MISTAKES);
    expect(lines.filter((line) => line.includes('failing-callback.mjs:')).length).toBeGreaterThan(2);
    expect(this.stderr).toContain('ELOUD');
    expect(this.stderr).not.toContain('s3cret');
  }

  async ends(): Promise<void> {
    this.child.kill('SIGTERM');
    expect(await this.#over).toEqual([0, null]);
  }
}

async function runs(client: WireClient, id: string): Promise<void> {
  await client.call('process/start', startParams(id, ['echo', 'fine']));
  await client.closedEvents(id);
  expect(client.output(id).toString()).toBe('fine\n');
}

describe('a mistake in the server ends no session', () => {
  test('serve', async () => {
    const server = new BadServer(['serve']);
    const [url = ''] = await server.firstLines(1);
    const { client } = await dialWire(url);
    await client.handshake();
    await client.call('process/start', startParams('cat', ['cat'], { pipeStdin: true }));
    await server.makeMistakes();
    server.expectHarmless();
    await runs(client, 'after');
    await client.call('process/write', { processId: 'cat', writeId: '1', chunk: 'aGk=' });
    await client.until(() => client.output('cat').toString() === 'hi');
    const late = await dialWire(url);
    await late.client.handshake();
    await server.ends();
  });

  test('serve on stdio', async () => {
    const server = new BadServer(['serve', '--listen', 'stdio']);
    const client = new WireClient(lineWire(server.child));
    await client.handshake();
    await server.makeMistakes();
    server.expectHarmless();
    await runs(client, 'after');
    await server.ends();
  });

  test('app-server', async () => {
    const server = new BadServer(['app-server', '--listen', 'ws://127.0.0.1:0']);
    const [url = ''] = await server.firstLines(1);
    const { client } = await dialWire(url);
    await client.call('initialize', { clientInfo: { name: 'test', version: '1' } });
    await server.makeMistakes();
    server.expectHarmless();
    const exec = { command: ['echo', 'fine'], sandboxPolicy: { type: 'dangerFullAccess' } };
    expect(await client.call('command/exec', exec)).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
    await server.ends();
  });

  test('mcp over HTTP', async () => {
    const server = new BadServer(['mcp', '--listen', 'http://127.0.0.1:0']);
    const [url = '', authorization = ''] = await server.firstLines(2);
    const headers = { authorization: authorization.replace('Authorization: ', '') };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await server.makeMistakes();
    server.expectHarmless();
    const result = await client.callTool({
      name: 'exec_command',
      arguments: { cmd: 'echo fine', login: false },
    });
    expect(JSON.stringify(result)).toContain('fine');
    await client.close();
    await server.ends();
  });

  test('a mistake without end fills no log', async () => {
    const server = new BadServer(['serve', '--log-format', 'json']);
    const [url = ''] = await server.firstLines(1);
    for (let round = 0; round < 20; round += 1) await server.makeMistakes();
    const said = server.log.split('internal error').length - 1;
    expect(said).toBeGreaterThanOrEqual(MISTAKES);
    // A period may end while it goes on.
    expect(said).toBeLessThanOrEqual(2 * MAX_LINES);
    const { client } = await dialWire(url);
    await client.handshake();
    await server.ends();
  });

  test('a log nobody reads any more does not matter', async () => {
    const server = new BadServer(['serve', '--log-level', 'debug']);
    const [url = ''] = await server.firstLines(1);
    server.child.stderr.destroy();
    server.child.stdout.destroy();
    server.child.kill('SIGUSR2');
    for (let count = 0; count < 3; count += 1) {
      const { client, socket } = await dialWire(url);
      await client.handshake();
      socket.terminate();
    }
    await server.ends();
  });
});
