import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../harness/server-process.js';

const MIB = 1024 * 1024;
/** What a file of any size may cost the server. */
const MAX_GROWTH_BYTES = 64e6;
/** Blocks under way at a time. */
const WINDOW = 4;
const STREAM_BLOCKS = 1024;

/** The least a client can be: a thousand blocks must not be parsed, kept or decoded by the test. */
class RawClient {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (message: Buffer) => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (message: Buffer) => {
      const id = /"id":(\d+)/.exec(message.toString('latin1', 0, 40))?.[1] ?? '';
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    });
  }

  static async open(url: string): Promise<RawClient> {
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
    await once(socket, 'open');
    const client = new RawClient(socket);
    await client.ask(0, '"method":"initialize","params":{"clientName":"raw"}');
    socket.send('{"method":"initialized","params":{}}');
    return client;
  }

  ask(id: number, rest: string): Promise<Buffer> {
    const answer = new Promise<Buffer>((resolve) => this.#waiting.set(String(id), resolve));
    this.#socket.send(`{"id":${id},${rest}}`);
    return answer;
  }

  close(): void {
    this.#socket.terminate();
  }
}

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

async function eachBlock(move: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < STREAM_BLOCKS) {
      next += 1;
      await move(next - 1);
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, lane));
}

test('1 GiB is written and read in blocks without the server growing with it', {
  timeout: 240_000,
}, async () => {
  using folder = new TestFolder();
  await using server = await ServerProcess.start();
  const client = await RawClient.open(server.url);
  const path = folder.file('streamed');
  const open = (mode: string): string =>
    `"method":"fs/open","params":{"handleId":"${mode}","path":"file://${path}","mode":"${mode}"}`;
  let wrong = 0;
  const grown = await growthDuring(server.pid, async () => {
    await client.ask(1, open('replace'));
    await eachBlock(async (index) => {
      const params = `{"handleId":"replace","offset":${index * MIB},"chunk":"${label(index)}${COMMON}"}`;
      await client.ask(10 + index, `"method":"fs/writeBlock","params":${params}`);
    });
    await client.ask(2, open('read'));
    await eachBlock(async (index) => {
      const params = `{"handleId":"read","offset":${index * MIB},"len":${MIB}}`;
      const answer = await client.ask(10_000 + index, `"method":"fs/readBlock","params":${params}`);
      if (!isBlock(answer, index)) wrong += 1;
    });
  });
  client.close();
  expect(statSync(path).size).toBe(STREAM_BLOCKS * MIB);
  expect(wrong).toBe(0);
  expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
});

test('64 MiB are read in one message without the server growing by as much', async () => {
  using folder = new TestFolder();
  const path = folder.file('large');
  const stream = createWriteStream(path);
  for (let index = 0; index < 64; index += 1) stream.write(Buffer.alloc(MIB, `piece ${index} `));
  stream.end();
  await once(stream, 'close');
  await using server = await ServerProcess.start();
  const client = await RawClient.open(server.url);
  let answer: Buffer = Buffer.alloc(0);
  const grown = await growthDuring(server.pid, async () => {
    answer = await client.ask(7, `"method":"fs/readFile","params":{"path":"file://${path}"}`);
  });
  client.close();
  const head = '{"id":7,"result":{"dataBase64":"';
  expect(answer.toString('latin1', 0, head.length)).toBe(head);
  expect(answer.toString('latin1', answer.length - 3)).toBe('"}}');
  const content = Buffer.from(answer.toString('latin1', head.length, answer.length - 3), 'base64');
  expect(content.equals(readFileSync(path))).toBe(true);
  expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
});

test('a file that shrinks while it is sent ends where it ends, and the connection goes on', async () => {
  using folder = new TestFolder();
  const path = folder.file('shrinking');
  writeFileSync(path, Buffer.alloc(64 * MIB, 'x'));
  await using server = await ServerProcess.start();
  const client = await RawClient.open(server.url);
  const answer = client.ask(7, `"method":"fs/readFile","params":{"path":"file://${path}"}`);
  // The answer to a later request waits behind it, so the file is open by the time this one is taken in.
  const behind = client.ask(8, '"method":"environment/status","params":{}');
  truncateSync(path, 2 * MIB);
  const { result } = JSON.parse((await answer).toString()) as { result: { dataBase64: string } };
  const content = Buffer.from(result.dataBase64, 'base64');
  expect(content.length).toBeGreaterThanOrEqual(2 * MIB);
  expect(content.equals(Buffer.alloc(content.length, 'x'))).toBe(true);
  expect((await behind).toString()).toContain('ready');
  client.close();
});
