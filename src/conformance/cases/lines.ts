import { type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';

/** What servers do that find lines in output. */
export const lineCases: readonly ConformanceCase[] = [
  {
    name: 'lines/search',
    says: 'Where `processLines` is offered, output is found by pattern, by line and by time, with stable numbers.',
    async run(context) {
      const wire = await context.open();
      const { capabilities } = await wire.call('initialize', { clientName: 'conformance' });
      wire.send('{"method":"initialized","params":{}}');
      if (!Object(capabilities).processLines) return;
      const processId = `conformance-${Date.now()}`;
      const script = 'printf "one\\ntwo\\r\\nthree"';
      await wire.call('process/start', startParams(context, processId, shell(script)));
      await wire.says(processId, 'three');
      const found = await wire.call('process/search', { processId, pattern: '^t', regex: true });
      same('lines that match', numbers(found['matches']), [2, 3]);
      same('everything was searched', found['atEnd'], true);
      const { cursor } = found;
      const again = await wire.call('process/search', { processId, pattern: 't', cursor });
      same('behind the cursor', again['matches'], []);
      const page = await wire.call('process/lines', { processId, from: -2, to: 2 });
      same('lines by number', [page['totalLines'], page['nextLine'], page['gaps']], [3, null, []]);
      const [line] = page['lines'] as { chunk: string; offset: number; line: number; cut: boolean }[];
      const text = Buffer.from(line?.chunk ?? '', 'base64').toString();
      same('a line', [line?.line, text, line?.offset, line?.cut], [2, 'two', 4, false]);
      const later = { processId, sinceMs: Date.now() + 1_000_000 };
      same('since later', (await wire.call('process/lines', later))['lines'], []);
      same('read since later', (await wire.call('process/read', later))['chunks'], []);
      const refused = await wire.refusal('process/search', { processId, pattern: '(', regex: true });
      same('a bad pattern', refused, -32602);
    },
  },
];

function numbers(lines: unknown): number[] {
  return (lines as { line: number }[]).map(({ line }) => line);
}
