// Needs: bwrap
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { TestFolder } from '../harness/processes.js';
import { peakMb, residentMb } from './memory.js';
import { isLong, limitMs, tally, tries } from './tally.js';

const MB = 1_000_000;
/** A line of text is as long as people write them. */
const LINE = `${'x'.repeat(79)}\n`;
/** What a client that does not read may cost, everything included. Far below what the answers add up to. */
const MAX_GROWTH_MB = 350;
/** Commands of an app server whose answers nobody reads. The long form is about all that a connection may have. */
const COMMANDS = isLong ? 1_000 : 300;
/** While it runs, each command has its pipes and what was just read from them. */
const RUNNING_MB = 0.2;
const POLICY = ['--sandbox', 'workspace-write'];

const readFile = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'read_file', arguments: { path: 'file', max_output_tokens: MB } },
});

const runCommand = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: {
    name: 'exec_command',
    arguments: { cmd: 'cat file', login: false, tty: false, max_output_tokens: MB },
  },
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'deaf', version: '1' } },
};

/** A command that ends with the test, in a directory with a file of a size. */
class Deaf implements AsyncDisposable {
  readonly folder = new TestFolder();
  readonly child: ChildProcessByStdio<Writable, Readable, null>;

  constructor(args: string[], fileBytes: number) {
    writeFileSync(this.folder.file('file'), Buffer.alloc(fileBytes, LINE));
    const cwd = this.folder.file('.');
    this.child = spawn(process.execPath, [bin, ...args], { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
    this.child.stdin.on('error', () => undefined);
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await ended;
    }
    this.folder[Symbol.dispose]();
  }
}

/** Resolves when a process has used no CPU time to speak of for a moment: it waits for somebody who does not read. */
async function untilIdle(pid: number): Promise<void> {
  const ticks = () => {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  let before = -1;
  await expect
    .poll(
      () => {
        const now = ticks();
        const isIdle = now - before <= 2;
        before = now;
        return isIdle;
      },
      { interval: 1_000, timeout: 600_000 },
    )
    .toBe(true);
}

describe('answers of tools that nobody reads', { timeout: limitMs(120_000) }, () => {
  test.each([
    ['files', readFile, 1_000],
    ['output', runCommand, 60],
  ])('cost a bounded amount of memory on pipes: %s', async (_what, ask, usual) => {
    await using deaf = new Deaf(['mcp', ...POLICY], MB);
    deaf.send(INITIALIZE);
    await once(deaf.child.stdout, 'data');
    deaf.child.stdout.pause();
    deaf.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const before = residentMb(deaf.pid);
    const count = tries(usual);
    for (let id = 0; id < count; id += 1) deaf.send(ask(id));
    await untilIdle(deaf.pid);
    const growth = peakMb(deaf.pid) - before;
    tally('unread answers of tools on pipes', { tries: count, successes: growth < MAX_GROWTH_MB ? 0 : 1 });
    expect(growth).toBeLessThan(MAX_GROWTH_MB);
  });

  test('cost a bounded amount of memory over HTTP, and others are served', async () => {
    await using deaf = new Deaf(['mcp', ...POLICY, '--listen', 'http://127.0.0.1:0'], 3.9 * MB);
    const lines: string[] = [];
    const output = createInterface({ input: deaf.child.stdout }).on('line', (line) => lines.push(line));
    while (lines.length < 2) await once(output, 'line');
    const [url = '', header = ''] = lines;
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: header.replace(/^Authorization: /, ''),
    };
    const post = (message: object, more: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(message) });
    const session = (await post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const inSession = { 'mcp-session-id': session };
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, inSession);
    const before = residentMb(deaf.pid);
    const count = Math.min(tries(40), 500);
    for (let id = 0; id < count; id += 1) {
      const unread = request(url, { method: 'POST', agent: false, headers: { ...headers, ...inSession } });
      unread.on('error', () => undefined).on('response', (response) => response.pause());
      unread.end(JSON.stringify(readFile(id)));
    }
    await untilIdle(deaf.pid);
    const growth = peakMb(deaf.pid) - before;
    tally('unread answers of tools over HTTP', { tries: count, successes: growth < MAX_GROWTH_MB ? 0 : 1 });
    expect(growth).toBeLessThan(MAX_GROWTH_MB);
    const answer = await post(readFile(count), inSession);
    expect((await answer.text()).length).toBeGreaterThan(3.9 * MB);
  });
});

test(
  'answers of an app server on pipes that nobody reads cost a bounded amount of memory',
  async () => {
    await using deaf = new Deaf(['app-server', '--default-sandbox', 'workspace-write'], MB);
    deaf.send({
      id: 'hello',
      method: 'initialize',
      params: { clientInfo: { name: 'deaf', version: '1' }, capabilities: { experimentalApi: true } },
    });
    await once(deaf.child.stdout, 'data');
    deaf.child.stdout.pause();
    deaf.send({ method: 'initialized' });
    const before = residentMb(deaf.pid);
    const count = tries(1_000);
    for (let id = 0; id < count; id += 1)
      deaf.send({ id, method: 'fs/readFile', params: { path: deaf.folder.file('file') } });
    for (let id = 0; id < COMMANDS; id += 1)
      deaf.send({ id: `run${id}`, method: 'command/exec', params: { command: ['cat', 'file'] } });
    await untilIdle(deaf.pid);
    const growth = peakMb(deaf.pid) - before;
    const most = MAX_GROWTH_MB + COMMANDS * RUNNING_MB;
    tally('unread answers of an app server on pipes', {
      tries: count + COMMANDS,
      successes: growth < most ? 0 : 1,
    });
    expect(growth).toBeLessThan(most);
  },
  limitMs(120_000),
);
