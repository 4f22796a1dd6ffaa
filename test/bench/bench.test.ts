import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { frameOf } from '../../testkit/frames.mjs';
import { type Link, stdioLink } from '../../testkit/links.mjs';

const url = (name: string): URL => new URL(`../../bench/${name}`, import.meta.url);

/** The bench is plain JavaScript without declarations; each test names the part of a module it uses. */
async function load<Module>(name: string): Promise<Module> {
  return (await import(url(name).href)) as Module;
}

interface Budget {
  case: string;
  metric: string;
  subject: string;
  against: string;
  comparison: string;
  limit: number;
  reason: string;
}
interface Case {
  name: string;
  metrics: { key: string }[];
}

function outputMessage(bytes: number): string {
  const chunk = Buffer.alloc(bytes, 7).toString('base64');
  return JSON.stringify({
    method: 'process/output',
    params: { processId: 'p', seq: 1, stream: 'stdout', chunk },
  });
}

describe('the wire client', () => {
  test('reads the size of output off a binary frame', async () => {
    type Module = { outputSize: (message: Buffer) => number | null };
    const { outputSize } = await load<Module>('lib/output-size.mjs');
    const params = { processId: 'p', seq: 1, stream: 'stdout' };
    for (const size of [0, 1, 70_000])
      expect(
        outputSize(frameOf({ method: 'process/output', params, bytes: 'chunk' }, Buffer.alloc(size))),
      ).toBe(size);
  });

  test('reads the size of output off its base64', async () => {
    type Module = { outputSize: (message: Buffer) => number | null };
    const { outputSize } = await load<Module>('lib/output-size.mjs');
    const sizes = [0, 1, 2, 3, 4, 5, 6, 1000, 65_536];
    expect(sizes.map((size) => outputSize(Buffer.from(outputMessage(size))))).toEqual(sizes);
    expect(outputSize(Buffer.from('{"method":"process/closed","params":{}}'))).toBe(null);
    expect(outputSize(Buffer.from('{}'))).toBe(null);
  });

  test('joins a line that arrives in pieces', async () => {
    type Client = { output(bytes: number): Promise<void>; readonly outputBytes: number };
    const { WireClient } = await load<{ WireClient: new (link: Link) => Client }>('lib/wire.mjs');
    const stdout = new PassThrough();
    const client = new WireClient(stdioLink({ stdin: new PassThrough(), stdout }));
    const arrived = client.output(30);
    const lines = Buffer.from(`${outputMessage(10)}\n`.repeat(3));
    for (let at = 0; at < lines.length; at += 50) stdout.write(lines.subarray(at, at + 50));
    await arrived;
    expect(client.outputBytes).toBe(30);
  });
});

describe('budgets', () => {
  test('speak of what is measured', async () => {
    const { cases } = await load<{ cases: Case[] }>('cases/index.mjs');
    const subjects =
      /^(execwire (ws|ws binary|stdio|in process|client ws|run|run -e ws)|ssh, (warm|cold)|codex (ws|stdio)|C posix_spawn|script\(1\)|C read\(2\), write\(2\)|node -e 0|Node child_process|node:fs|execwire (ws|ws binary)( durable)?(, terminal)?|(execwire (ws|ws binary)|terminal|C read\(2\), write\(2\)), on disk|terminal|in memory|on disk|(64 KiB|100 lines) (in memory|on disk)|(during|without) a search|(asciicast|text|html)(, a quarter)?|(first screen|start) of (a|the) server|screen|no policy|bwrap by hand|under a policy|held|of 1(00)?,000 files|apply|cp -a and sync|no network|rules for hosts|bare socket|ssh -[LD]|execwire forward|the first under it)$/;
    for (const budget of JSON.parse(readFileSync(url('budgets.json'), 'utf8')) as Budget[]) {
      const measured = cases.find(({ name }) => name === budget.case)?.metrics.map(({ key }) => key);
      expect(measured).toContain(budget.metric);
      expect(budget.subject).toMatch(subjects);
      expect(budget.against).toMatch(subjects);
      expect(budget.reason).not.toBe('');
    }
  });

  test('hold, are missed, or are not measured', async () => {
    type Verdict = Budget & { verdict: string };
    type Module = { checkBudgets: (results: unknown, judgement?: object) => Verdict[] };
    const { checkBudgets } = await load<Module>('lib/budgets.mjs');
    const verdict = (rows: Record<string, number>): string | undefined =>
      checkBudgets({
        cases: [
          {
            name: 'echo',
            rows: Object.entries(rows).map(([subject, p50]) => ({ subject, values: { p50 } })),
          },
        ],
      }).find(({ subject }) => subject === 'execwire ws')?.verdict;
    expect(verdict({ 'execwire ws': 1, 'codex ws': 100 })).toBe('held');
    expect(verdict({ 'execwire ws': 100, 'codex ws': 100 })).toBe('missed');
    expect(verdict({ 'execwire ws': 1 })).toBe('not measured');
    const unasked = checkBudgets({ cases: [] }, { left: ['echo'] });
    expect(unasked.map((each) => [each.case, each.verdict])).toContainEqual(['echo', 'left out']);
    expect(new Set(unasked.map((each) => each.case))).toEqual(new Set(['echo']));
  });

  test('have room in a check: half as much again, both ways', async () => {
    type Module = { checkBudgets: (results: unknown, judgement?: object) => Budget[] };
    const { checkBudgets } = await load<Module>('lib/budgets.mjs');
    const names = ['echo', 'pipes'];
    const cases = names.map((name) => ({ name, rows: [] }));
    const limits = (room: number) => checkBudgets({ cases }, { room });
    for (const [index, { comparison, limit }] of limits(1).entries()) {
      const wider = limits(1.5)[index]?.limit ?? 0;
      expect(wider / limit).toBeCloseTo(comparison === 'below' ? 1.5 : 1 / 1.5, 1);
    }
  });
});

describe('npm run bench', () => {
  async function bench(args: string[]): Promise<{ code: number; output: string; errors: string }> {
    const child = spawn(process.execPath, [fileURLToPath(url('run.mjs')), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CODEX_BIN: '', PATH: '/usr/bin:/bin' },
    });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    return { code, output, errors };
  }

  test('measures one case by name', async () => {
    const { code, output } = await bench(['--short', '--only', 'status']);
    expect(code).toBe(0);
    expect(output).toMatch(/^\| execwire ws +\| +[\d.,]+ \| +[\d.,]+ \|/m);
    expect(output).toMatch(/^\| execwire stdio +\| +[\d.,]+ \| +[\d.,]+ \|/m);
  });

  test('refuses a case it does not know', async () => {
    const { code, errors } = await bench(['--only', 'nonsense']);
    expect(code).toBe(2);
    expect(errors).toContain('There is no case nonsense.');
  });
});
