import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Between two attempts, so that a client that has given up does not spin. */
const RETRY_MS = 20;
const EXITED = { kind: 'exited', exitCode: 0 };
/** Where a mark is put: every descendant inherits it. */
export const MARK_NAME = 'EXECWIRE_CHAOS_MARK';

/** What a scenario can do with a process, by name. Each checks all that came back and rejects otherwise. */
export const jobs = {
  /** Long numbered output: nothing lost, doubled or out of place. */
  async print({ start, job: { from, count } }) {
    const child = await start({ argv: ['seq', String(from), String(from + count - 1)] });
    assert.equal(digest(await wholeOutput(child)), digest(numbers(from, count)), 'output differs');
    assert.deepEqual(await child.wait(), EXITED);
  },

  /** What is typed comes back once and in order. */
  async echo({ start, job: { pieces } }) {
    const child = await start({ argv: ['cat'], pipeStdin: true });
    const output = wholeOutput(child);
    const texts = pieces.map((size, index) => letters(index, size));
    const writes = [];
    for (const [index, text] of texts.entries()) {
      writes.push(child.write(text));
      writes.at(-1).catch(() => undefined);
      if (index % 4 === 3) await writes.at(-1);
    }
    await child.closeStdin();
    assert.deepEqual(new Set(await Promise.all(writes)), new Set(['accepted']));
    assert.equal(digest(await output), digest(Buffer.from(texts.join(''))), 'what was typed differs');
    assert.deepEqual(await child.wait(), EXITED);
  },

  /** A terminal takes input once, and the size it was given last holds when the input behind it is read. */
  async terminal({ start, job: { pieces, sizes } }) {
    const total = pieces.reduce((sum, size) => sum + size, 0);
    const script = `stty raw -echo; printf R; head -c ${total}; stty size`;
    const child = await start({ argv: ['sh', '-c', script], tty: true });
    const output = wholeOutput(child);
    await firstOutput(child);
    let last = { rows: 24, cols: 80 };
    const texts = pieces.map((size, index) => letters(index, size));
    for (const [index, text] of texts.entries()) {
      last = { rows: sizes[index] ?? 24, cols: sizes[7 - index] ?? 80 };
      await child.resize(last);
      await child.write(text);
    }
    const expected = `R${texts.join('')}${last.rows} ${last.cols}\n`;
    assert.equal((await output).toString(), expected);
    assert.deepEqual(await child.wait(), EXITED);
  },

  /** A tree that tries to stay dies, whenever it is told to. */
  async kill({ start, job: { afterMs, fromReady } }) {
    const script = 'sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &); echo ready; wait';
    const child = await start({ argv: ['sh', '-c', script] });
    if (fromReady) await firstOutput(child);
    await pause(afterMs);
    await child.terminate();
    assert.deepEqual(await child.wait(), { kind: 'signalled', exitCode: 137, signal: 'SIGKILL' });
  },

  /** A signal may be lost with its connection, then it is sent again; its effect is seen once. */
  async signal({ start }) {
    const script = 'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done';
    const child = await start({ argv: ['sh', '-c', script] });
    const output = wholeOutput(child);
    await firstOutput(child);
    await child.signal('SIGINT').catch(async (error) => {
      if (error.code !== 'connectionClosed') throw error;
      await child.signal('SIGINT').catch(() => child.terminate());
    });
    const end = await child.wait();
    if (end.kind === 'signalled') return;
    assert.deepEqual(end, { kind: 'exited', exitCode: 7 });
    assert.equal((await output).toString(), 'ready\ncaught\n');
  },

  /** A limit kept by the server needs no connection. */
  async timeout({ start, job: { timeoutMs } }) {
    const child = await start({ argv: ['sleep', '1000'], timeoutMs });
    assert.equal((await child.wait()).kind, 'timedOut');
  },

  /** What is read on demand is what was streamed, number by number. */
  async read({ start, client, job: { count, reads } }) {
    const child = await start({ argv: ['seq', '1', String(count)] });
    const seen = [];
    const looks = (async () => {
      for (let left = reads; left > 0; left -= 1) {
        const request = { processId: child.processId, afterSeq: seen.length, maxBytes: 10_000, waitMs: 50 };
        const { chunks } = await client.call('process/read', request);
        seen.push(...chunks);
      }
    })();
    looks.catch(() => undefined);
    const streamed = new Map();
    for await (const event of child.events())
      if (event.type === 'output') streamed.set(event.seq, event.bytes);
    await looks;
    for (const { seq, chunk } of seen)
      assert.ok(Buffer.from(chunk, 'base64').equals(streamed.get(seq) ?? ''), `read differs at ${seq}`);
    assert.equal(digest(Buffer.concat([...streamed.values()])), digest(numbers(1, count)));
  },

  /** A file is what was written last, whole, however often that had to be repeated. */
  async files({ client, folder, job: { sizes } }) {
    const own = mkdtempSync(join(folder, 'files-'));
    for (const [index, size] of sizes.entries()) {
      const path = pathToFileURL(join(own, `file-${index}`)).href;
      const data = Buffer.from(letters(index, size)).toString('base64');
      await persist(() => client.call('fs/writeFile', { path, dataBase64: data, atomic: true }));
      const { dataBase64 } = await persist(() => client.call('fs/readFile', { path }));
      assert.ok(dataBase64 === data, 'a file differs');
    }
  },

  /** The rules hold at any moment. Connections may break, but not for good. */
  async fetch({ start, sites, job: { count } }) {
    const script = [
      'fetched=0',
      `while [ $fetched -lt ${count} ]; do`,
      `  [ "$(curl -s -m 20 ${sites.denied})" = denied ] && echo leaked`,
      `  [ "$(curl -s -m 20 ${sites.allowed})" = allowed ] && fetched=$((fetched + 1)) && echo $fetched`,
      'done',
    ].join('\n');
    const child = await start({ argv: ['sh', '-c', script] });
    const output = wholeOutput(child);
    assert.deepEqual(await child.wait(), EXITED);
    assert.equal((await output).toString(), numbers(1, count).toString());
  },

  /** What is written to a file that is held can be read there, and the file itself stays as it is. */
  async note({ start, folder, job: { pieces } }) {
    const own = mkdtempSync(join(folder, 'note-'));
    const child = await start({ argv: ['sh', '-c', 'cat > notes; cat notes'], cwd: own, pipeStdin: true });
    const output = wholeOutput(child);
    const texts = pieces.map((size, index) => letters(index, size));
    for (const text of texts) assert.equal(await child.write(text), 'accepted');
    await child.closeStdin();
    assert.equal(digest(await output), digest(Buffer.from(texts.join(''))), 'what was written differs');
    assert.deepEqual(await child.wait(), EXITED);
    assert.deepEqual(readdirSync(own), [], 'a change was not held');
  },

  /** A kept process is used by clients that come and go; in the end, all of its output is there once. */
  async attach({ start, connect, job: { count, rounds } }) {
    const child = await start({
      argv: ['sh', '-c', `seq 1 ${count}; read end`],
      pipeStdin: true,
      lease: 'kept',
    });
    for (let round = 0; round < rounds; round += 1) {
      const other = await persist(connect, 'notConnected');
      try {
        const params = { processId: child.processId, afterSeq: 0, keyboard: 'view' };
        await persist(() => other.call('process/attach', params));
        await persist(() => other.call('process/detach', { processId: child.processId }));
      } finally {
        await other.close();
      }
    }
    const output = wholeOutput(child);
    await child.write('end\n');
    assert.equal(digest(await output), digest(numbers(1, count)), 'output differs');
    assert.deepEqual(await child.wait(), EXITED);
  },
};

/** Asks again if the connection was lost before the answer came. */
export async function persist(ask, lost = 'connectionClosed') {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code !== lost) throw error;
      await pause(RETRY_MS);
    }
  }
}

/** All output; rejects when a number is missing, doubled or out of order, or when bytes were let go. */
function wholeOutput(child) {
  const output = collect(child);
  // Whoever awaits it hears of the failure; until then another step may fail first.
  output.catch(() => undefined);
  return output;
}

async function collect(child) {
  const parts = [];
  let expected = 1;
  for await (const event of child.events()) {
    assert.notEqual(event.type, 'gap', 'output was let go');
    assert.equal(event.seq, expected, 'numbers have a hole');
    expected += 1;
    if (event.type === 'output') parts.push(event.bytes);
  }
  return Buffer.concat(parts);
}

async function firstOutput(child) {
  for await (const event of child.events()) if (event.type === 'output') return;
  throw new Error('ended before it said anything');
}

function numbers(from, count) {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${from + index}\n`).join(''));
}

/** Text that tells which piece it is and where in it one is. */
function letters(index, size) {
  return `${index}:`.padEnd(size, 'abcdefghijklmnopqrstuvwxyz').slice(0, size);
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
