import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../bench/profile/${name}`, import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [path('run.mjs'), ...args]);

interface Frame {
  functionName: string;
  url: string;
}
interface Position {
  lineNumber: number;
  columnNumber: number;
}
interface Origin {
  path: string;
  name: string;
}
interface Areas {
  analyse: (
    profile: object,
    options: { originOf: (frame: Frame) => Origin; windows?: [number, number][] },
  ) => { areas: { area: string; ms: number }[]; functions: { name: string; ms: number }[] };
  worthRows: (rows: { area: string; ms: number }[]) => { area: string; ms: number }[];
}
const areas = (): Promise<Areas> => import(path('areas.mjs')) as Promise<Areas>;

/** A profile of calls inside each other, a sample every two milliseconds, each function one of them. */
function profileOf(frames: [functionName: string, url: string][]): object {
  const nodes = [['(root)', ''], ...frames].map(([functionName, url], index) => ({
    id: index + 1,
    callFrame: { functionName, url },
    children: index < frames.length ? [index + 2] : [],
  }));
  const samples = frames.map((_, index) => index + 2);
  return { nodes, samples, timeDeltas: samples.map(() => 2000), startTime: 10_000 };
}

describe('the areas of a profile', () => {
  test('follow from the function, or else from the module it was written in', async () => {
    const { analyse } = await areas();
    const modules: Record<string, string> = {
      'file:///p/dist/bin/host-1.cjs': '/p/dist/host/spawn/kernel-read.js',
      'file:///p/dist/bin/peer-1.cjs': '/p/dist/rpc/peer.js',
      'file:///p/dist/bin/ws-1.cjs': '/p/node_modules/ws/lib/receiver.js',
      'file:///p/dist/bin/loader.cjs': '/p/dist/bin/loader.cjs',
    };
    const profile = profileOf([
      ['(idle)', ''],
      ['(garbage collector)', ''],
      ['fillBuffer', 'file:///p/dist/bin/host-1.cjs'],
      ['send', 'file:///p/dist/bin/peer-1.cjs'],
      ['hasOwnProperty', ''],
      ['onStreamRead', 'node:internal/stream_base_commons'],
      ['writev', ''],
      ['consume', 'file:///p/dist/bin/ws-1.cjs'],
      ['load', 'file:///p/dist/bin/loader.cjs'],
    ]);
    const found = analyse(profile, {
      originOf: ({ url, functionName }) => ({ path: modules[url] ?? url, name: functionName }),
    });
    expect(Object.fromEntries(found.areas.map(({ area, ms }) => [area, ms]))).toEqual({
      'poll of libuv': 2,
      'garbage collector': 2,
      'our host, and the C functions it calls': 2,
      // With the native function it calls.
      'our rpc': 4,
      'Node: streams and sockets': 2,
      'write to sockets and pipes, in the kernel': 2,
      ws: 2,
      'our loader and chunks': 2,
    });
    expect(found.functions).toContainEqual({ name: 'fillBuffer (host/spawn/kernel-read)', ms: 2 });
  });

  test('count what lies in a window, and parts of a sample', async () => {
    const { analyse } = await areas();
    const profile = profileOf([
      ['(idle)', ''],
      ['(garbage collector)', ''],
      ['(program)', ''],
    ]);
    const { areas: rows } = analyse(profile, {
      originOf: ({ url, functionName }) => ({ path: url, name: functionName }),
      windows: [[13_000, 15_000]],
    });
    expect(rows).toEqual([
      { area: 'garbage collector', ms: 1 },
      { area: 'native code of Node and V8', ms: 1 },
    ]);
  });

  test('that are hardly there share a row', async () => {
    const { worthRows } = await areas();
    const rows = [
      { area: 'ws', ms: 998 },
      { area: 'zod', ms: 1 },
      { area: 'commander', ms: 1 },
    ];
    expect(worthRows(rows)).toEqual([
      { area: 'ws', ms: 998 },
      { area: 'all others', ms: 2 },
    ]);
  });
});

describe('the origin of a function', () => {
  test('is found, although the command line runs from few files, and under a short name', async () => {
    const { openOrigins } = (await import(path('origins.mjs'))) as {
      openOrigins: () => Promise<(frame: Frame & Position) => Origin>;
    };
    const originOf = await openOrigins();
    const folder = fileURLToPath(new URL('../../dist/bin/', import.meta.url));
    const { WRAPPER } = createRequire(import.meta.url)(`${folder}loader.cjs`) as {
      WRAPPER: [string, string];
    };
    const chunks = readdirSync(folder).filter((name) => name.endsWith('.cjs') && name !== 'loader.cjs');
    const origins = chunks.flatMap((name) => {
      // As the loader gives it to V8, which counts lines and columns from zero, and names where parameters begin.
      const lines = WRAPPER.join(readFileSync(`${folder}${name}`, 'utf8')).split('\n');
      return lines.flatMap((line, lineNumber) =>
        [...line.matchAll(/(?<=\bfunction ([\w$]+))\(/g)].map(({ 1: functionName = '', index }) =>
          originOf({ url: `file://${folder}${name}`, lineNumber, columnNumber: index, functionName }),
        ),
      );
    });
    const found = origins.filter(({ name }) => name === 'ensureWatchdog');
    expect(found.map((origin) => origin.path.split('/dist/')[1])).toEqual(['host/spawn/watchdog.js']);
  });
});

describe('system calls', () => {
  test('are read off the summary of strace', async () => {
    type Module = { parseSummary: (text: string) => unknown };
    const { parseSummary } = (await import(path('system-calls.mjs'))) as Module;
    const summary = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.33    0.000181         181         1           execve
 14.00    0.000042           5         8         3 read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000300          12        24         3 total
`;
    expect(parseSummary(summary)).toEqual([
      { name: 'read', calls: 8, errors: 3 },
      { name: 'execve', calls: 1, errors: 0 },
    ]);
  });
});

describe('npm run bench:profile', () => {
  test('shows who used the CPU, and where the server did', async () => {
    const { stdout } = await run('--short', 'echo');
    expect(stdout).toMatch(/^\| client +\| +[\d.,]+ \| +[\d.,]+ \| +[\d.,]+ \|$/m);
    expect(stdout).toMatch(/^\| together +\| +[\d.,]+ \| 100\.0 % \| +[\d.,]+ \|$/m);
  }, 60_000);

  test('knows its cases', async () => {
    const failure: unknown = await run('nothing').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no case nothing.') });
  });
});
