import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';

const ROUNDS = 6;
/** Takes long enough to write that a kill falls into any step of it. */
const SIZE = 1024 * 1024;
/** Within this time after the first write the server is killed; several writes take place in it. */
const SPREAD_MS = 60;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'execwire-atomic-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The one letter a file of full length consists of, or what is wrong with it. */
function letterOf(content: Buffer): string {
  const letter = String.fromCharCode(content[0] ?? 0);
  if (content.length !== SIZE) return `${content.length} bytes`;
  return content.equals(Buffer.alloc(SIZE, letter)) ? letter : 'a mixture';
}

test('a server killed in the middle of atomic writes leaves the old content or the new, and no half of a file', async () => {
  const path = join(directory, 'file');
  for (let round = 0; round < ROUNDS; round += 1) {
    writeFileSync(path, Buffer.alloc(SIZE, 'a'));
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    const letters = Array.from('bcdefgh');
    for (const letter of letters) {
      const dataBase64 = Buffer.alloc(SIZE, letter).toString('base64');
      const params = { path: `file://${path}`, dataBase64, atomic: true };
      client.send(JSON.stringify({ id: letter, method: 'fs/writeFile', params }));
    }
    await client.answerTo('b');
    // Any moment will do: what must hold does not depend on it.
    await pause((SPREAD_MS * round) / ROUNDS);
    await server.stop('SIGKILL');
    const answered = letters.filter((letter) =>
      client.arrivals.some((each) => 'id' in each && each.id === letter),
    );
    const found = letterOf(readFileSync(path));
    // What was answered has happened; at most what was sent behind it may have, too.
    expect(letters.slice(answered.length - 1)).toContain(found);
    const left = readdirSync(directory).filter((name) => name !== 'file');
    for (const name of left) {
      expect(name).toMatch(/^\.execwire-[0-9a-f]+\.tmp$/);
      expect(letters).toContain(letterOf(readFileSync(join(directory, name))));
      rmSync(join(directory, name));
    }
    client.close();
  }
});
