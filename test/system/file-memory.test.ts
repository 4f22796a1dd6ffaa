import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { stdioLink, webSocketLink } from '../../testkit/links.mjs';
import { RawClient } from '../../testkit/raw-client.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';

const MIB = 1024 * 1024;
/**
 * What a file of any size may cost the server: the blocks under way, and those the garbage collector has yet to find.
 * How long it takes for that differs between versions of Node, and on a busy machine. Less than a tenth of the file.
 */
const MAX_GROWTH_BYTES = 96e6;
/** Blocks under way at a time. */
const WINDOW = 4;
/** Blocks of a mebibyte; fewer over stdio, where a test is about the lines and not about the files. */
const BLOCKS = { WebSocket: 1024, stdio: 512 };

/** Peak of the server's memory during `work` above what it was before. */
async function growthDuring(pid: number, work: () => Promise<void>): Promise<number> {
  const read = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  // Makes the kernel forget the highest use so far, see proc(5).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = read('VmRSS');
  await work();
  return read('VmHWM') - before;
}

/** Every block begins with its own number, so that none can stand for another. A multiple of three bytes, for base64. */
const LABEL_BYTES = 12;
const COMMON = Buffer.alloc(MIB - LABEL_BYTES, 'the rest of a block ').toString('base64');
const COMMON_BYTES = Buffer.from(COMMON);

function label(index: number): string {
  return Buffer.from(String(index).padStart(LABEL_BYTES)).toString('base64');
}

function isBlock(answer: Buffer, index: number): boolean {
  const start = answer.indexOf(label(index));
  const from = start + label(index).length;
  return start > 0 && answer.subarray(from, from + COMMON_BYTES.length).equals(COMMON_BYTES);
}

async function eachBlock(count: number, move: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await move(next - 1);
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, lane));
}

/** Writes a file in blocks and reads it again. Returns by how much the server grew meanwhile. */
async function streamed(
  client: RawClient,
  { pid, blocks }: { pid: number; blocks: number },
): Promise<number> {
  using folder = new TestFolder();
  const path = folder.file('streamed');
  const open = (mode: string): string =>
    `"method":"fs/open","params":{"handleId":"${mode}","path":"file://${path}","mode":"${mode}"}`;
  let wrong = 0;
  const grown = await growthDuring(pid, async () => {
    await client.ask(1, open('replace'));
    await eachBlock(blocks, async (index) => {
      const params = `{"handleId":"replace","offset":${index * MIB},"chunk":"${label(index)}${COMMON}"}`;
      await client.ask(10 + index, `"method":"fs/writeBlock","params":${params}`);
    });
    await client.ask(2, open('read'));
    await eachBlock(blocks, async (index) => {
      const params = `{"handleId":"read","offset":${index * MIB},"len":${MIB}}`;
      const answer = await client.ask(10_000 + index, `"method":"fs/readBlock","params":${params}`);
      if (!isBlock(answer, index)) wrong += 1;
    });
  });
  expect(statSync(path).size).toBe(blocks * MIB);
  expect(wrong).toBe(0);
  return grown;
}

describe('a large file is written and read in blocks without the server growing with it', () => {
  test('over a WebSocket', { timeout: 240_000 }, async () => {
    await using server = await ServerProcess.start();
    using client = await RawClient.open(await webSocketLink(server.url));
    const grown = await streamed(client, { pid: server.pid, blocks: BLOCKS.WebSocket });
    expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
  });

  test('over stdio', { timeout: 240_000 }, async () => {
    const server = spawn(process.execPath, [bin, 'serve', '--listen', 'stdio'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void server.kill('SIGKILL'));
    const client = await RawClient.open(stdioLink(server));
    const grown = await streamed(client, { pid: server.pid ?? -1, blocks: BLOCKS.stdio });
    expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
    const exit = once(server, 'exit');
    server.stdin.end();
    expect(await exit).toEqual([0, null]);
  });
});

test('64 MiB are read in one message without the server growing by as much', async () => {
  using folder = new TestFolder();
  const path = folder.file('large');
  const stream = createWriteStream(path);
  for (let index = 0; index < 64; index += 1) stream.write(Buffer.alloc(MIB, `piece ${index} `));
  stream.end();
  await once(stream, 'close');
  await using server = await ServerProcess.start();
  using client = await RawClient.open(await webSocketLink(server.url));
  let answer: Buffer = Buffer.alloc(0);
  const grown = await growthDuring(server.pid, async () => {
    answer = await client.ask(7, `"method":"fs/readFile","params":{"path":"file://${path}"}`);
  });
  const head = '{"id":7,"result":{"dataBase64":"';
  expect(answer.toString('latin1', 0, head.length)).toBe(head);
  expect(answer.toString('latin1', answer.length - 3)).toBe('"}}');
  const content = Buffer.from(answer.toString('latin1', head.length, answer.length - 3), 'base64');
  expect(content.equals(readFileSync(path))).toBe(true);
  expect(grown).toBeLessThan(content.length - MIB);
});

test('a file that shrinks while it is sent ends where it ends, and the connection goes on', async () => {
  using folder = new TestFolder();
  const path = folder.file('shrinking');
  writeFileSync(path, Buffer.alloc(64 * MIB, 'x'));
  await using server = await ServerProcess.start();
  using client = await RawClient.open(await webSocketLink(server.url));
  const answer = client.ask(7, `"method":"fs/readFile","params":{"path":"file://${path}"}`);
  // The answer to a later request waits behind it, so the file is open by the time this one is taken in.
  const behind = client.ask(8, '"method":"environment/status","params":{}');
  truncateSync(path, 2 * MIB);
  const { result } = JSON.parse((await answer).toString()) as { result: { dataBase64: string } };
  const content = Buffer.from(result.dataBase64, 'base64');
  expect(content.length).toBeGreaterThanOrEqual(2 * MIB);
  expect(content.equals(Buffer.alloc(content.length, 'x'))).toBe(true);
  expect((await behind).toString()).toContain('ready');
});
