import { describe, expect, test } from 'vitest';
import type { ExecProcess, HistoryEntry } from '../../src/contract/index.js';
import { isExecError } from '../../src/protocol/errors.js';
import { sh } from '../../testkit/wire-client.mjs';
import type { OpenEnvironment } from './process.contract.js';

async function historyOf(process: ExecProcess, options?: { follow: boolean }): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of process.history(options)) entries.push(entry);
  return entries;
}

function textOf(entries: readonly HistoryEntry[]): string {
  return Buffer.concat(entries.flatMap((entry) => (entry.type === 'output' ? [entry.bytes] : []))).toString();
}

/** Entries as text, with neighbouring output joined: where a chunk ends is up to the kernel. */
function outline(entries: readonly HistoryEntry[]): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    if (entry.type === 'output') {
      const text = Buffer.from(entry.bytes).toString();
      const last = lines.at(-1);
      if (last?.startsWith(`${entry.stream}: `)) lines.push(lines.pop() + text);
      else lines.push(`${entry.stream}: ${text}`);
    } else if (entry.type === 'resize') lines.push(`resize: ${entry.size.cols}x${entry.size.rows}`);
    else if (entry.type === 'start') lines.push(`start: ${entry.tty} ${JSON.stringify(entry.size)}`);
    else if (entry.type === 'end') lines.push(`end: ${entry.exitCode} ${entry.signal}`);
    else lines.push(`gap: ${entry.lostBytes}`);
  }
  return lines;
}

async function says(process: ExecProcess, text: string): Promise<void> {
  let seen = '';
  for await (const event of process.events()) {
    if (event.type === 'output') seen += Buffer.from(event.bytes).toString();
    if (seen.includes(text)) return;
  }
  throw new Error(`never said ${text}`);
}

/** What an environment knows about the past of its processes. */
export function historyContract(name: string, open: OpenEnvironment): void {
  describe(`${name}: history`, () => {
    test('tells output, sizes and the end in order, with times', async () => {
      await using env = await open();
      const before = Date.now();
      const process = await env.start({
        argv: sh('stty -echo; echo one; read x; stty size; exit 3'),
        tty: true,
        size: { rows: 10, cols: 40 },
        retain: 'disk',
      });
      await says(process, 'one');
      await process.resize({ rows: 12, cols: 50 });
      await process.resize({ rows: 14, cols: 60 });
      await process.write('\n');
      await process.wait();
      const entries = await historyOf(process);
      expect(outline(entries)).toEqual([
        'start: true {"rows":10,"cols":40}',
        'pty: one\r\n',
        'resize: 50x12',
        'resize: 60x14',
        'pty: 14 60\r\n',
        'end: 3 null',
      ]);
      const times = entries.map(({ timeMs }) => timeMs);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]).toBeGreaterThanOrEqual(before);
      expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
    });

    test('can be read while the process runs, and followed to its end', async () => {
      await using env = await open();
      const process = await env.start({
        argv: sh('echo one; read x; echo two; kill -KILL $$'),
        pipeStdin: true,
        retain: 'disk',
      });
      await says(process, 'one');
      expect(outline(await historyOf(process))).toEqual(['start: false null', 'stdout: one\n']);
      const following = historyOf(process, { follow: true });
      await process.write('\n');
      expect(outline(await following)).toEqual([
        'start: false null',
        'stdout: one\ntwo\n',
        'end: 137 SIGKILL',
      ]);
    });

    test('keeps stdout and stderr apart, in many pieces', { timeout: 60_000 }, async () => {
      await using env = await open();
      const process = await env.start({
        argv: sh(`seq 300000; echo bad >&2; sleep 0.01; seq 300000`),
        retain: 'disk',
        onSlowReader: 'spool',
      });
      await process.wait();
      const entries = await historyOf(process);
      const numbers = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('');
      const of = (stream: string): string =>
        textOf(entries.filter((entry) => entry.type === 'output' && entry.stream === stream));
      expect(of('stderr')).toBe('bad\n');
      expect(of('stdout') === numbers + numbers).toBe(true);
      expect(entries.filter(({ type }) => type === 'gap')).toEqual([]);
    });

    test('is refused for output that is in memory only, with a way out', async () => {
      await using env = await open();
      const process = await env.start({ argv: sh('echo one') });
      await process.wait();
      const error: unknown = await historyOf(process).catch((cause: unknown) => cause);
      expect(isExecError(error, 'notRecorded')).toBe(true);
      expect(String(error)).toContain('retain');
    });
  });
}
