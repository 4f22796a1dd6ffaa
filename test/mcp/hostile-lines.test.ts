import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { gone, TestFolder } from '../harness/processes.js';

const MiB = 1024 * 1024;

interface Message {
  readonly id?: unknown;
  readonly result?: { readonly structuredContent?: Record<string, unknown>; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string };
}

/** `execwire mcp` and whoever writes to it by hand. */
class RawMcp implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exit: Promise<unknown[]>;
  readonly #arrived: Message[] = [];
  readonly #lines;
  stderr = '';

  constructor(args: readonly string[] = []) {
    this.child = spawn(process.execPath, [bin, 'mcp', '--structured', ...args]);
    this.exit = once(this.child, 'exit');
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.on('data', (data: Buffer) => {
      this.stderr += data.toString();
    });
    this.#lines = createInterface({ input: this.child.stdout });
    this.#lines.on('line', (line) => void this.#arrived.push(JSON.parse(line) as Message));
    const clientInfo = { name: 'raw', version: '1' };
    this.request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  }

  write(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  request(id: number | string, method: string, params: object): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  call(id: number | string, name: string, args: object): void {
    this.request(id, 'tools/call', { name, arguments: args });
  }

  async answer(id: number | string): Promise<Message> {
    for (;;) {
      const found = this.#arrived.find((each) => each.id === id);
      if (found) return found;
      await once(this.#lines, 'line');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end();
    await this.exit;
  }
}

test('lines that are no messages change nothing; those that ask are answered', async () => {
  await using mcp = new RawMcp();
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const silent = ['', 'x', '{', '{}', '[]', 'null', '1', '"a"', '\u0000', '{"jsonrpc":"2.0"}', deep];
  const strays = ['{"jsonrpc":"2.0","id":77,"result":{}}', '{"jsonrpc":"2.0","method":"no/such"}'];
  for (const line of [...silent, ...strays]) mcp.write(line);
  mcp.write('{"jsonrpc":"1.0","id":"old","method":"tools/list"}');
  mcp.write('{"id":"bare","method":"tools/list"}');
  mcp.write('{"jsonrpc":"2.0","id":"array","method":"tools/list","params":[]}');
  mcp.request('unknown', '__proto__', {});
  mcp.call('tool', '__proto__', {});
  mcp.call('arguments', 'exec_command', JSON.parse('{"__proto__":{"cmd":"true"}}') as object);
  for (const id of ['old', 'bare', 'array'])
    expect((await mcp.answer(id)).error).toMatchObject({ code: -32600 });
  expect((await mcp.answer('unknown')).error).toMatchObject({ code: -32601 });
  for (const id of ['tool', 'arguments']) expect((await mcp.answer(id)).result?.isError).toBe(true);
  mcp.call('after', 'exec_command', { cmd: 'echo fine', login: false });
  expect((await mcp.answer('after')).result?.structuredContent).toMatchObject({ output: 'fine\n' });
});

test('one long message is taken, and sessions live on', async () => {
  using folder = new TestFolder();
  await using mcp = new RawMcp();
  mcp.call('session', 'exec_command', { cmd: 'cat', login: false, yield_time_ms: 250 });
  const { structuredContent } = (await mcp.answer('session')).result ?? {};
  const content = 'x'.repeat(24 * MiB);
  mcp.call('large', 'write_file', { path: folder.file('large'), content });
  expect((await mcp.answer('large')).result?.structuredContent).toMatchObject({
    bytes_written: 24 * MiB,
  });
  mcp.call('list', 'write_stdin', { session_id: structuredContent?.['session_id'], chars: '\u0004' });
  expect((await mcp.answer('list')).result?.structuredContent).toMatchObject({ exit_code: 0 });
});

test('a line without an end ends the server with a reason, and what it ran', async () => {
  const mark = `mark-endless-${process.pid}-${Date.now()}`;
  await using mcp = new RawMcp();
  mcp.call('session', 'exec_command', { cmd: `sh -c "sleep 1000; :" ${mark}`, yield_time_ms: 250 });
  await mcp.answer('session');
  const piece = 'x'.repeat(MiB);
  for (let sent = 0; sent <= 65; sent += 1) mcp.child.stdin.write(piece);
  const [code] = await mcp.exit;
  expect({ code, stderr: mcp.stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a line is longer than the limit'),
  });
  await gone(mark);
});
