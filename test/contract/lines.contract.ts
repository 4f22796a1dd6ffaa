import { describe, expect, test } from 'vitest';
import { sh } from '../../testkit/wire-client.mjs';
import type { OpenEnvironment } from './process.contract.js';

/** How environments find lines in output, wherever it is. */
export function linesContract(name: string, open: OpenEnvironment): void {
  describe(`${name}: lines`, () => {
    test('output is searched, and read by line', async () => {
      await using env = await open();
      const child = await env.start({ argv: sh('seq 1 5000; echo err >&2') });
      await child.wait();
      const found = await child.search({ pattern: '^12.4$', regex: true });
      expect(found.matches.map(({ line, text }) => [line, text])).toEqual(
        Array.from({ length: 10 }, (_, index) => [1204 + 10 * index, String(1204 + 10 * index)]),
      );
      expect(found).toMatchObject({ atEnd: true, gaps: [], closed: true, failure: null });
      const page = await child.readLines({ from: -3 });
      expect(page.lines.map(({ text }) => text).sort()).toEqual(['4999', '5000', 'err']);
      expect(page).toMatchObject({ totalLines: 5001, nextLine: null });
      const [line] = (await child.readLines({ from: 10, to: 10 })).lines;
      expect(line).toMatchObject({ line: 10, offset: 18, stream: 'stdout', text: '10', cut: false });
      expect(Buffer.from(line?.bytes ?? []).toString()).toBe('10');
    });

    test('a search goes on in pages', async () => {
      await using env = await open();
      const child = await env.start({ argv: sh('seq 1 1000') });
      await child.wait();
      const lines: number[] = [];
      let page = await child.search({ pattern: '7', maxMatches: 50 });
      for (; ; page = await child.search({ pattern: '7', maxMatches: 50, cursor: page.cursor })) {
        lines.push(...page.matches.map(({ line }) => line));
        expect(page.matches.length).toBeLessThanOrEqual(50);
        if (page.atEnd) break;
      }
      expect(lines).toEqual(
        Array.from({ length: 1000 }, (_, index) => index + 1).filter((line) => String(line).includes('7')),
      );
    });

    test('a search waits for what is printed next', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['cat'], pipeStdin: true });
      const waiting = child.search({ pattern: 'hit', waitMs: 60_000 });
      await child.write('miss\n');
      await child.write('a hit\n');
      const { matches, cursor } = await waiting;
      expect(matches.map(({ line, text }) => [line, text])).toEqual([[2, 'a hit']]);
      const last = child.search({ pattern: 'hit', waitMs: 60_000, cursor });
      await child.closeStdin();
      expect(await last).toMatchObject({ matches: [], closed: true });
    });

    test('what came since a time is read, and found', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['cat'], pipeStdin: true });
      await child.write('old\n');
      const { matches } = await child.search({ pattern: 'old', waitMs: 60_000 });
      const sinceMs = (matches[0]?.timeMs ?? 0) + 1;
      while (Date.now() <= sinceMs) await new Promise((resolve) => setImmediate(resolve));
      await child.write('new\n');
      const lines = await child.readLines({ sinceMs, waitMs: 60_000 });
      expect(lines.lines.map(({ line, text }) => [line, text])).toEqual([[2, 'new']]);
      const { chunks } = await child.read({ sinceMs });
      expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()).toBe('new\n');
      expect(chunks[0]?.lostBytes).toBe(0);
    });

    test('a pattern that cannot be used is refused', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['true'] });
      for (const pattern of ['(', '(?=a)', '\\1'])
        await expect(child.search({ pattern, regex: true })).rejects.toMatchObject({ code: 'invalidParams' });
    });
  });
}
