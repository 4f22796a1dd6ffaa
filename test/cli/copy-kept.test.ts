import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const WITHOUT_A_WORD = { code: 0, stdout: '', stderr: '' };

let server: ServerProcess;
let other: ServerProcess;
beforeAll(async () => {
  [server, other] = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
});
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
});

/** Everything below a folder: kind, permissions, time to the microsecond, what links say, and content. */
function listing(folder: string): string {
  const script =
    "find . -printf '%M %p %l %T@\\n' | sed -E 's/(\\.[0-9]{6})[0-9]*$/\\1/' | sort; find . -type f -exec sha256sum {} + | sort";
  return execFileSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
}

/** A tree with everything there is to keep. */
function plant(tree: string): void {
  mkdirSync(`${tree}/a/empty`, { recursive: true });
  mkdirSync(`${tree}/closed`);
  writeFileSync(`${tree}/a/small`, 'small');
  writeFileSync(`${tree}/a/large`, Buffer.alloc(3 * 1024 * 1024, 'large'));
  writeFileSync(`${tree}/closed/file`, 'inside', { mode: 0o600 });
  symlinkSync('a/small', `${tree}/to-file`);
  symlinkSync('a', `${tree}/to-directory`);
  symlinkSync('.', `${tree}/a/loop`);
  symlinkSync('/nowhere at all', `${tree}/dangling`);
  symlinkSync(Buffer.from([0xff, 0x2f, 0x0a]), `${tree}/closed/not UTF-8`);
  const dated = 'find . -depth -exec touch -h -d "@981173106.123456" {} +';
  execFileSync('sh', ['-c', `${dated}; touch -d @5.000001 a a/large; chmod 555 closed`], { cwd: tree });
}

describe('cp keeps times and links', () => {
  test.each([
    ['up', '', 'server:'],
    ['down', 'server:', ''],
    ['across', 'server:', 'other:'],
    ['within a machine', 'server:', 'server:'],
    ['here', '', ''],
  ])('of a tree, %s, also where it is already', async (_, source, destination) => {
    using folder = new TestFolder();
    const place = (machine: string, path: string): string =>
      machine.replace('server', server.url).replace('other', other.url) + folder.file(path);
    plant(folder.file('tree'));
    // A machine that copies by itself leaves directories open to their owner.
    if (source === destination) execFileSync('chmod', ['755', folder.file('tree/closed')]);
    const copy = ['cp', place(source, 'tree'), place(destination, 'copy')];
    expect(await execwire(copy)).toEqual(WITHOUT_A_WORD);
    expect(listing(folder.file('copy'))).toBe(listing(folder.file('tree')));
    if (source !== destination) {
      // Over itself: "into" has the tree under its name from now on.
      mkdirSync(folder.file('into'));
      for (let round = 0; round < 2; round += 1) {
        // A file is replaced by a new one, for which a directory that is closed to its owner has no room. Root does not notice.
        if (round > 0) execFileSync('chmod', ['u+w', folder.file('into/tree/closed')]);
        const into = ['cp', place(source, 'tree'), place(destination, 'into')];
        expect(await execwire(into)).toEqual(WITHOUT_A_WORD);
        expect(listing(folder.file('into/tree'))).toBe(listing(folder.file('tree')));
      }
    }
    execFileSync('chmod', ['-R', 'u+w', folder.path]);
  });

  test.each([
    ['up', '', 'server:'],
    ['down', 'server:', ''],
    ['here', '', ''],
  ])('of a single file or link, %s', async (_, source, destination) => {
    using folder = new TestFolder();
    const place = (machine: string, path: string): string =>
      machine.replace('server', server.url) + folder.file(path);
    plant(folder.file('tree'));
    const time = (path: string): number => lstatSync(folder.file(path)).mtimeMs;
    for (const name of ['a/small', 'a/large', 'to-file', 'to-directory', 'dangling']) {
      const copied = `copy-${name.replace('/', '-')}`;
      const copy = ['cp', place(source, `tree/${name}`), place(destination, copied)];
      expect(await execwire(copy)).toEqual(WITHOUT_A_WORD);
      expect([name, time(copied)]).toEqual([name, time(`tree/${name}`)]);
      if (name.startsWith('a/')) continue;
      expect(readlinkSync(folder.file(copied))).toBe(readlinkSync(folder.file(`tree/${name}`)));
    }
    execFileSync('chmod', ['-R', 'u+w', folder.path]);
  });

  test.each([
    ['up', '', 'server:'],
    ['down', 'server:', ''],
    ['here', '', ''],
  ])('or follows links to files with -L, %s', async (_, source, destination) => {
    using folder = new TestFolder();
    const place = (machine: string, path: string): string =>
      machine.replace('server', server.url) + folder.file(path);
    mkdirSync(folder.file('tree'));
    writeFileSync(folder.file('tree/file'), 'content');
    symlinkSync('file', folder.file('tree/link'));
    symlinkSync('.', folder.file('tree/loop'));
    const single = await execwire(['cp', '-L', place(source, 'tree/link'), place(destination, 'single')]);
    expect(single).toEqual(WITHOUT_A_WORD);
    expect(lstatSync(folder.file('single')).isFile()).toBe(true);
    const { code, stderr } = await execwire(['cp', '-L', place(source, 'tree'), place(destination, 'copy')]);
    // A link to a directory was left out.
    expect(code).toBe(1);
    expect(stderr).toBe(`execwire: left out ${folder.file('tree/loop')}: it is a link to a directory\n`);
    expect(readdirSync(folder.file('copy')).sort()).toEqual(['file', 'link']);
    expect(lstatSync(folder.file('copy/link')).isFile()).toBe(true);
    expect(readFileSync(folder.file('copy/link'), 'utf8')).toBe('content');
  });

  test('in the same flight: a tree full of them takes no more round trips', async () => {
    using folder = new TestFolder();
    plant(folder.file('tree'));
    mkdirSync(folder.file('plain/a/empty'), { recursive: true });
    for (const name of ['x', 'y', 'a/z']) writeFileSync(folder.file(`plain/${name}`), name);
    // A busy machine sends in two turns what goes together, so the fewest count.
    const trips = async (name: string, enough = 0): Promise<number> => {
      let fewest = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < (enough > 0 ? 10 : 3) && fewest > enough; attempt += 1) {
        const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 150 } });
        const copy = ['cp', folder.file(name), `${proxy.url}:${folder.file(`${name}${attempt}`)}`];
        expect(await execwire(copy)).toEqual(WITHOUT_A_WORD);
        fewest = Math.min(fewest, proxy.roundTrips);
        await proxy.close();
      }
      return fewest;
    };
    execFileSync('chmod', ['755', folder.file('tree/closed')]);
    const plain = await trips('plain');
    expect(await trips('tree', plain)).toBeLessThanOrEqual(plain);
  }, 120_000);
});
