import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { jobs } from '../chaos/jobs.mjs';
import { readOnly } from '../../testkit/sandboxes.mjs';

const MIB = 1024 * 1024;

/**
 * What goes on at the same time, by name. Each is done again and again, by one client that comes and goes, and checks
 * what came back. `start` starts a marked process, `at` names a file in a folder of the activity's own.
 */
export const activities = {
  async pipes({ start, round }) {
    await jobs.print({ start, job: { from: round, count: 20_000 } });
    await jobs.echo({ start, job: { pieces: [1, 100, 40_000, 7] } });
  },

  async terminals({ start, round }) {
    const sizes = [20, 30, 40, 50, 60, 70, 80, 20 + (round % 100)];
    await jobs.terminal({ start, job: { pieces: [10, 200, 3], sizes } });
  },

  async ends({ start, round }) {
    await jobs.kill({ start, job: { afterMs: 0, fromReady: round % 2 === 0 } });
    await jobs.signal({ start });
    await jobs.timeout({ start, job: { timeoutMs: 50 } });
  },

  /** More output than anybody wants, ended in the middle. */
  async floods({ start }) {
    const child = await start({ argv: ['yes'] });
    let bytes = 0;
    for await (const event of child.events()) {
      if (event.type === 'output') bytes += event.bytes.length;
      if (bytes > 8 * MIB) break;
    }
    await child.terminate();
    assert.equal((await child.wait()).kind, 'signalled');
  },

  /** A reader that falls behind holds the program up and still gets every byte. */
  async slowReaders({ start }) {
    const child = await start({ argv: ['head', '-c', String(6 * MIB), '/dev/zero'] });
    let bytes = 0;
    for await (const event of child.events()) {
      if (event.type !== 'output') continue;
      bytes += event.bytes.length;
      await pause(2);
    }
    assert.equal(bytes, 6 * MIB);
  },

  /** The connection is cut while output flows and input is typed. */
  async cuts({ start, proxy, round }) {
    const work = Promise.all([
      jobs.print({ start, job: { from: 1, count: 60_000 } }),
      jobs.echo({ start, job: { pieces: Array.from({ length: 20 }, () => 500) } }),
    ]);
    await proxy.afterBytes(1 + ((round * 7919) % 60_000));
    proxy.cut();
    await work;
  },

  async files({ files, at, round }) {
    const content = Buffer.alloc(50_000 + (round % 1000), `round ${round} `);
    await files.createDirectory(at('tree/a/b'));
    await files.writeFile(at('tree/a/b/one'), content, { atomic: round % 2 === 0 });
    await files.copy(at('tree'), at('copy'), { recursive: true });
    await files.rename(at('copy/a/b/one'), at('copy/two'));
    assert.ok(content.equals(await files.readFile(at('copy/two'))));
    const opened = await files.open(at('copy/two'));
    assert.equal((await opened.read(10, 100)).bytes.length, 100);
    await opened.close();
    assert.equal((await files.walk(at('.'))).entries.length, 8);
    await files.remove(at('tree'));
    await files.remove(at('copy'));
  },

  async watches({ files, at, round }) {
    await files.createDirectory(at('watched'));
    const watch = await files.watch(at('watched'), { recursive: round % 2 === 0 });
    const changed = watch[Symbol.asyncIterator]().next();
    await files.writeFile(at('watched/file'), 'x');
    const { value } = await changed;
    assert.ok(value.changes.some(({ path }) => path === at('watched/file')));
    await watch.close();
    await files.remove(at('watched'));
  },

  async searches({ files, at }) {
    await files.createDirectory(at('text'));
    await files.writeFile(at('text/poem'), 'one\nneedle here\nthree\n');
    const { matches } = await files.search(at('text'), { pattern: 'needle' });
    assert.deepEqual(
      matches.map(({ path, line }) => [path, line]),
      [[at('text/poem'), 2]],
    );
    await files.remove(at('text'));
  },

  /** Under a policy: reading works, writing does not. */
  async sandboxes({ start, at }) {
    const argv = ['sh', '-c', `cat /dev/null && echo read; touch ${at('denied')} 2>/dev/null || echo denied`];
    const child = await start({ argv, sandbox: readOnly(at('.')) });
    assert.equal(await child.text(), 'read\ndenied\n');
  },
};
