import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test, vi } from 'vitest';
import { setLimit, tasksOf } from '../harness/limits.js';
import { TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { type Answer, failures, RequestsOfAllKinds, wrongAnswers } from './requests-of-all-kinds.js';
import { limitMs, tally, tries } from './tally.js';

const LIMIT_MS = limitMs(120_000);
const isRoot = process.getuid?.() === 0;
/** A user nobody is, so that nobody else counts against its limits. */
const LONELY_UID = 61_235;

/** So many numbers from a range: all of them in the long form, a few that differ from run to run in the short one. */
function some(from: number, to: number, few: number): number[] {
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  if (tries(0) > few) return all.slice(0, tries(0));
  const step = all.length / few;
  return Array.from({ length: few }, (_, index) => all[Math.floor((index + Math.random()) * step)] ?? from);
}

/** A server that may not start: then it says why in a sentence. */
class PoorServer implements AsyncDisposable {
  readonly child;
  #stderr = '';
  url: string | undefined;

  constructor(wrapper: readonly string[], folder: string) {
    const argv = [...wrapper, process.execPath, bin, 'serve', '--log-level', 'warn'];
    this.child = spawn(argv[0] ?? '', argv.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
      cwd: folder,
    });
    this.child.stderr.on('data', (data: Buffer) => {
      this.#stderr += data.toString();
    });
  }

  /** Resolves once it serves or has ended. */
  async settle(): Promise<void> {
    const line = once(createInterface({ input: this.child.stdout }), 'line') as Promise<[string]>;
    const ended = once(this.child, 'close').then(() => undefined);
    const first = await Promise.race([line, ended]);
    this.url = first?.[0];
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** What is wrong with how it took it: a crash, or something nobody can make sense of. */
  complaints(): string[] {
    // Node itself aborts where it finds no memory or threads to begin with. Once we serve there is no excuse.
    const { signalCode } = this.child;
    if (signalCode !== null) return this.url === undefined ? [] : [`killed by ${signalCode}`];
    const traces = /^\s+at .+:\d+|Unhandled/m.test(this.#stderr);
    const silent = !this.isAlive && this.#stderr.trim() === '' ? ['it ended without a word'] : [];
    return [...silent, ...(traces ? [this.#stderr.slice(0, 1500)] : [])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isAlive) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await exit;
    clearTimeout(late);
  }
}

/** What every Node server does under this limit: threads for files, a listener. Where that fails we cannot start, either. */
const PLAIN_SERVER = `
require('node:fs').stat(process.execPath, () =>
  require('node:net').createServer().listen(0, '127.0.0.1', () => process.exit()));`;

function nodeRuns(wrapper: readonly string[]): boolean {
  const argv = [...wrapper, process.execPath, '-e', PLAIN_SERVER];
  return spawnSync(argv[0] ?? '', argv.slice(1), { stdio: 'ignore', timeout: 20_000 }).status === 0;
}

/** Plays a poor server and says everything that was wrong. `need` takes the resource away, `relief` gives it back. */
async function play({
  wrapper,
  folder,
  relief,
  need,
}: {
  wrapper: readonly string[];
  folder: string;
  relief: ((pid: number) => void) | null;
  need?: (pid: number) => void;
}): Promise<unknown[]> {
  await using server = new PoorServer(wrapper, folder);
  await server.settle();
  if (server.url === undefined) return nodeRuns(wrapper) ? server.complaints() : [];
  const requests = new RequestsOfAllKinds(server.url, folder);
  need?.(server.pid);
  const first = wrongAnswers(await requests.askAll());
  // Once more: whatever the first round left behind counts now.
  const second = first.length > 0 ? [] : wrongAnswers(await requests.askAll());
  const problems: unknown[] = [...first, ...second, ...server.complaints()];
  if (!server.isAlive) return [...problems, 'the server ended'];
  if (relief === null || problems.length > 0) return problems;
  relief(server.pid);
  let after: Record<string, Answer> = {};
  const recovered = async (): Promise<void> =>
    expect(failures((after = await requests.askAll()))).toEqual([]);
  await vi
    .waitFor(recovered, { timeout: 20_000, interval: 200 })
    .catch(() => problems.push({ afterRelief: failures(after) }));
  return problems;
}

test.concurrent('descriptors: it works or says why, from twenty upward', { timeout: LIMIT_MS }, async () => {
  using folder = new TestFolder();
  const problems: unknown[] = [];
  // At the last two, files needed for a sandbox were one too many.
  const limits = [...some(20, 120, 3), 35, 37];
  for (const limit of limits) {
    // Node takes all it may have: it has to be poor from the beginning, and stays so.
    const found = await play({
      wrapper: ['prlimit', `--nofile=${limit}:${limit}`],
      folder: folder.path,
      relief: null,
    });
    if (found.length > 0) problems.push({ limit, found });
  }
  tally('descriptors from the beginning', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
});

test.concurrent('descriptors: it works or says why when they run out, and recovers', {
  timeout: LIMIT_MS,
}, async () => {
  using folder = new TestFolder();
  const problems: unknown[] = [];
  const limits = some(20, 60, 3);
  for (const limit of limits) {
    const found = await play({
      wrapper: [],
      folder: folder.path,
      need: (pid) => setLimit(pid, 'nofile', limit),
      relief: (pid) => setLimit(pid, 'nofile', 1024),
    });
    if (found.length > 0) problems.push({ limit, found });
  }
  tally('descriptors that run out', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
});

test.concurrent('processes: it works or says why, and recovers', { timeout: LIMIT_MS }, async () => {
  using folder = new TestFolder();
  chmodSync(folder.path, 0o777);
  // The limit does not hold for root, so root becomes somebody else.
  const somebody = isRoot
    ? ['setpriv', `--reuid=${LONELY_UID}`, `--regid=${LONELY_UID}`, '--clear-groups', '--inh-caps=-all']
    : [];
  // A plain user runs other programs, too. In a namespace of its own only the server counts.
  const alone = isRoot ? [] : ['unshare', '--user', '--map-current-user'];
  const problems: unknown[] = [];
  const limits = some(6, 40, 3);
  for (const room of limits) {
    const others = isRoot ? tasksOf(LONELY_UID) : 0;
    const wrapper = [...alone, 'prlimit', `--nproc=${others + room}:`, ...somebody];
    const relief = (pid: number) => {
      const [program, ...args] = [...somebody, 'prlimit', '--pid', String(pid), '--nproc=4096:'];
      execFileSync(program, args);
    };
    const found = await play({ wrapper, folder: folder.path, relief });
    if (found.length > 0) problems.push({ room, found });
  }
  tally('processes', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
});

test.concurrent('memory: it works or says why', { timeout: LIMIT_MS }, async () => {
  using folder = new TestFolder();
  const problems: unknown[] = [];
  const limits = some(850, 1_150, 3);
  for (const megabytes of limits) {
    const wrapper = ['prlimit', `--as=${megabytes * 1024 * 1024}:`];
    const relief = (pid: number) => execFileSync('prlimit', ['--pid', String(pid), '--as=unlimited:']);
    const found = await play({ wrapper, folder: folder.path, relief });
    if (found.length > 0) problems.push({ megabytes, found });
  }
  tally('memory', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
});

test.concurrent('disk: it works or says why', { timeout: LIMIT_MS }, async () => {
  using folder = new TestFolder();
  const disk = folder.file('disk');
  mkdirSync(disk);
  const problems: unknown[] = [];
  // Inodes, then pages: a file, a directory, half of what a request needs, none of it.
  const options = ['nr_inodes=2', 'nr_inodes=3', 'nr_inodes=4', 'size=4k', 'size=8k', 'nr_inodes=5'];
  const limits = tries(0) > 0 ? [...options, ...options] : options.slice(0, 4);
  for (const option of limits) {
    // A view of the file system of its own, that ends with the server.
    const prepare = `mount -t tmpfs -o ${option},mode=777 tmpfs "$0" && cd "$0" && { head -c 100000 /dev/zero > "$0/ballast" || true; } 2>/dev/null && exec "$@"`;
    const wrapper = ['unshare', '--map-root-user', '--mount', 'sh', '-c', prepare, disk];
    const relief = (pid: number) => {
      rmSync(`/proc/${pid}/root${disk}/ballast`, { force: true });
      execFileSync('nsenter', [
        ...['--target', String(pid), '--user', '--mount', '--preserve-credentials'],
        ...['mount', '-o', 'remount,size=16m,nr_inodes=1000', 'tmpfs', disk],
      ]);
    };
    const found = await play({ wrapper, folder: disk, relief });
    if (found.length > 0) problems.push({ option, found });
  }
  tally('disk', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
});

test.concurrent('the size of files: it works or says why', { timeout: LIMIT_MS }, async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('file'), 'content');
  const problems: unknown[] = [];
  const limits = [0, 1, 3, 4096];
  for (const bytes of limits) {
    const found = await play({
      wrapper: ['prlimit', `--fsize=${bytes}:`],
      folder: folder.path,
      relief: (pid) => execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:']),
    });
    if (found.length > 0) problems.push({ bytes, found });
  }
  tally('size of files', { tries: limits.length, successes: problems.length });
  expect(JSON.stringify(problems)).toBe('[]');
  expect(readFileSync(folder.file('file'), 'utf8')).toBe('content');
});
