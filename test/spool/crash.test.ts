import {
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
  appendFileSync,
  openSync,
  writeSync,
  closeSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { Spool, type StoredLog } from '../../src/spool/index.js';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const CHUNK = 10_000;

/** Lines that tell their number. */
const FLOOD = `awk 'BEGIN { for (i = 0; ; i++) printf "%011d\\n", i }'`;

/** Checks that output consists of those lines, without a hole, from the first one on. Returns its length. */
function checkedBytes(log: StoredLog): number {
  let expected = 0;
  let rest = '';
  let total = 0;
  for (let afterSeq = 0; ; ) {
    const event = log.next(afterSeq);
    if (event?.type !== 'output') return total;
    afterSeq = event.seq;
    total += event.bytes.length;
    const lines = (rest + Buffer.from(event.bytes).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (Number(line) !== expected || line.length !== 11) throw new Error(`line ${expected} is ${line}`);
      expected += 1;
    }
  }
}

describe('a server that is killed', () => {
  test('leaves output that is readable up to a position, and no exit', { timeout: 240_000 }, async () => {
    using folder = new TestFolder();
    const directory = folder.file('spool');
    for (let round = 0; round < 20; round += 1) {
      const server = await ServerProcess.start({ args: ['--spool', directory] });
      const { client, socket } = await dialWire(server.url);
      await client.handshake();
      const id = `p${round}`;
      await client.call('process/start', {
        ...startParams(id, sh(FLOOD)),
        retain: 'disk',
        onSlowReader: 'spool',
      });
      const wanted = 300_000 + 200_000 * round;
      await client.until(() => client.output(id).length > wanted / 4 || undefined);
      await server.stop('SIGKILL');
      socket.terminate();
      const spool = new Spool({ directory });
      const facts = (await spool.list()).find(({ processId }) => processId === id);
      const log = spool.open(facts?.id ?? '');
      if (!log) throw new Error('nothing was left');
      const bytes = checkedBytes(log);
      expect(bytes).toBeGreaterThan(0);
      expect(log.totalBytes).toBe(bytes);
      expect(log.read(log.nextSeq)).toMatchObject({ exited: false, exitCode: null, closed: false });
      expect(log.failure).toContain(`byte ${bytes}`);
      log.close();
      spool.close();
      rmSync(directory, { recursive: true });
    }
  });
});

/** A spool with one process of ten chunks, whose server is gone. */
function abandoned(folder: TestFolder): {
  directory: string;
  data: string;
  index: string;
  open: () => StoredLog;
} {
  const spool = new Spool({ directory: folder.file('spool') });
  const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
  const log = new ProcessLog({ archive });
  for (let each = 0; each < 10; each += 1) log.appendOutput('stdout', Buffer.alloc(CHUNK, 65 + each));
  spool.close();
  const [id = ''] = readdirSync(spool.directory);
  const directory = join(spool.directory, id);
  const open = (): StoredLog => {
    const stored = new Spool({ directory: spool.directory }).open(id);
    if (!stored) throw new Error('cannot be opened');
    return stored;
  };
  return {
    directory,
    data: join(directory, '00000001.data'),
    index: join(directory, '00000001.index'),
    open,
  };
}

function bytesIn(log: StoredLog): number {
  const { chunks } = log.read(0);
  log.close();
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

describe('a torn end', () => {
  test('of the index: a part of an entry', () => {
    using folder = new TestFolder();
    const { index, open } = abandoned(folder);
    truncateSync(index, statSync(index).size - 5);
    expect(bytesIn(open())).toBe(9 * CHUNK);
  });

  test('of the output: entries without it', () => {
    using folder = new TestFolder();
    const { data, open } = abandoned(folder);
    truncateSync(data, 7 * CHUNK + 3);
    expect(bytesIn(open())).toBe(7 * CHUNK);
  });

  test('output without an entry', () => {
    using folder = new TestFolder();
    const { data, open } = abandoned(folder);
    appendFileSync(data, 'more');
    expect(bytesIn(open())).toBe(10 * CHUNK);
  });

  test('output that is not what was written', () => {
    using folder = new TestFolder();
    const { data, open } = abandoned(folder);
    const fd = openSync(data, 'r+');
    writeSync(fd, Buffer.alloc(100), 0, 100, 9 * CHUNK + 9900);
    closeSync(fd);
    expect(bytesIn(open())).toBe(9 * CHUNK);
  });

  test('of everything: an empty log', () => {
    using folder = new TestFolder();
    const { data, index, open } = abandoned(folder);
    truncateSync(index, 0);
    truncateSync(data, 0);
    const log = open();
    expect(log.read(0)).toMatchObject({ chunks: [], exited: false, closed: false });
    expect(log.failure).toContain('byte 0');
  });

  test('other files in the directory do no harm', async () => {
    using folder = new TestFolder();
    const { directory, open } = abandoned(folder);
    writeFileSync(join(directory, '00000002.index'), 'nonsense');
    writeFileSync(folder.file('spool/unrelated'), '');
    expect(bytesIn(open())).toBe(10 * CHUNK);
    // Its server, this very process, still runs and takes care of it.
    expect(await new Spool({ directory: folder.file('spool') }).list()).toEqual([]);
  });
});

describe('a disk that fails', () => {
  /** Prints half, breaks the spool, prints the rest. */
  function broken(folder: TestFolder, breakIt: (directory: string) => void) {
    const failures: Error[] = [];
    const spool = new Spool({ directory: folder.file('spool'), onFailure: (error) => failures.push(error) });
    const archive = spool.create({ processId: 'p', owner: 'me', program: 'x', size: null, keep: true });
    const log = new ProcessLog({ archive, retainedBytes: 64 * 1024, spills: true });
    const print = (): void => {
      for (let each = 0; each < 100; each += 1) log.appendOutput('stdout', Buffer.alloc(CHUNK, each));
    };
    print();
    archive.close();
    breakIt(join(spool.directory, archive.facts.id));
    print();
    log.appendExited({ exitCode: 0, signal: null, timedOut: false, sandboxDenied: false });
    log.appendClosed();
    return { spool, log, failures };
  }

  function account(log: ProcessLog): { bytes: number; lost: number; ended: boolean } {
    const seen = { bytes: 0, lost: 0, ended: false };
    for (let seq = 0; ; ) {
      const event = log.next(seq);
      if (!event) return seen;
      seq = event.type === 'gap' ? event.beforeSeq - 1 : event.seq;
      if (event.type === 'gap') seen.lost += event.lostBytes;
      if (event.type === 'output') seen.bytes += event.bytes.length;
      if (event.type === 'closed') seen.ended = true;
    }
  }

  test('a deleted directory: the tail stays, the rest is counted', () => {
    using folder = new TestFolder();
    const { log, spool, failures } = broken(folder, (directory) => rmSync(directory, { recursive: true }));
    const { bytes, lost, ended } = account(log);
    expect(ended).toBe(true);
    expect(bytes + lost).toBe(200 * CHUNK);
    expect(bytes).toBeGreaterThanOrEqual(60_000);
    expect(bytes).toBeLessThan(100_000);
    expect(failures).toHaveLength(1);
    spool.close();
  });

  test.each([
    [
      'a full disk',
      (disk: string) => {
        const mount = `mount -t tmpfs -o size=1m none '${disk}' && exec "$@"`;
        return ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh'];
      },
    ],
    ['files that cannot grow', () => ['sh', '-c', 'ulimit -f 800; exec "$@"', 'sh']],
  ])('%s: the program goes on, and every byte is accounted for', { timeout: 60_000 }, async (_, wrap) => {
    using folder = new TestFolder();
    mkdirSync(folder.file('disk'));
    await using server = await ServerProcess.start({
      wrapper: wrap(folder.file('disk')),
      args: ['--spool', folder.file('disk/spool')],
    });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const total = 5_000_000;
    const print = `awk 'BEGIN { for (i = 0; i < ${total / 100}; i++) printf "%099d\\n", i }'`;
    await client.call('process/start', {
      ...startParams('p', sh(print)),
      retain: 'disk',
      onSlowReader: 'spool',
    });
    await client.until(
      () => client.events('p').some(({ method }) => method === 'process/closed') || undefined,
    );
    const seen = { bytes: 0, lost: 0 };
    for (let afterSeq = 0; ; ) {
      const { chunks, nextSeq } = (await client.call('process/read', {
        processId: 'p',
        afterSeq,
      })) as unknown as ReadAnswer;
      if (chunks.length === 0) break;
      for (const { chunk, lostBytes = 0 } of chunks) {
        seen.bytes += Buffer.from(chunk, 'base64').length;
        seen.lost += lostBytes;
      }
      afterSeq = nextSeq - 1;
    }
    expect(seen.bytes + seen.lost).toBe(total);
    expect(seen.lost).toBeGreaterThan(1_000_000);
    expect(server.isAlive).toBe(true);
    socket.terminate();
  });
});

interface ReadAnswer {
  readonly chunks: readonly { readonly chunk: string; readonly lostBytes?: number }[];
  readonly nextSeq: number;
}
