import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve } from '../harness/serve.js';
import { dialWire } from '../../testkit/wire-client.mjs';

/** Enough for an order that holds by chance to break. */
const ROUNDS = 50;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'execwire-order-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string): string => `file://${directory}/${name}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('changes of related paths take effect in the order they were sent, without waiting for answers', async () => {
  await using server = await serve();
  const { client } = await dialWire(server.url);
  await client.handshake();
  for (let round = 0; round < ROUNDS; round += 1) {
    const top = `round-${round}`;
    const answers = await Promise.all([
      client.ask('fs/createDirectory', { path: at(`${top}/a/b`) }),
      client.ask('fs/writeFile', { path: at(`${top}/a/b/file`), dataBase64: base64('content') }),
      client.ask('fs/open', { handleId: `h${round}`, path: at(`${top}/a/b/streamed`), mode: 'replace' }),
      client.ask('fs/writeBlock', { handleId: `h${round}`, offset: 0, chunk: base64('block') }),
      client.ask('fs/close', { handleId: `h${round}` }),
      client.ask('fs/copy', {
        sourcePath: at(`${top}/a/b/file`),
        destinationPath: at(`${top}/copy`),
        recursive: false,
      }),
      client.ask('fs/rename', { sourcePath: at(`${top}/a/b`), destinationPath: at(`${top}/moved`) }),
      client.ask('fs/remove', { path: at(`${top}/a`), recursive: false }),
    ]);
    expect(answers.flatMap(({ error }) => (error ? [error.message] : []))).toEqual([]);
    expect(existsSync(join(directory, top, 'a'))).toBe(false);
    expect(readFileSync(join(directory, top, 'copy'), 'utf8')).toBe('content');
    expect(readFileSync(join(directory, top, 'moved/streamed'), 'utf8')).toBe('block');
  }
  client.close();
});
